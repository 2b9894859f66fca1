/** Proxy settings, as in `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`. */
export interface Proxies {
  /** Proxy for http:// URLs; also for https:// URLs if `https` is absent. */
  http?: string | undefined;
  /** Proxy for https:// URLs. */
  https?: string | undefined;
  /** Comma-separated hosts that are reached without a proxy, including their subdomains; `*` alone for all hosts. */
  noProxy?: string | undefined;
}

/**
 * Parses a proxy address and adds a missing scheme. Throws a TypeError that names the setting and the allowed values, but not the value,
 * because it may contain a password.
 */
export function parseProxy(setting: string, value: string): string {
  const text = /^[a-z][a-z\d+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url?.hostname || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw new TypeError(`${setting} must be the address of a proxy, such as http://proxy.example.com:3128`);
  try {
    decodeURIComponent(`${url.username}:${url.password}`);
    return text;
  } catch {
    throw new TypeError(`${setting} has an invalid percent-encoding in its user name or password; encode % as %25`);
  }
}

/** Parses the addresses of proxies; an empty address means no proxy. Errors name the environment variable and the setting of the clients. */
export const parseProxies = ({ http, https, noProxy }: Proxies): Proxies => ({
  http: http ? parseProxy("HTTP_PROXY (proxies.http)", http) : undefined,
  https: https ? parseProxy("HTTPS_PROXY (proxies.https)", https) : undefined,
  noProxy,
});

/** The passwords in proxy addresses, possibly empty, which must not appear in errors. */
export const proxyPasswords = ({ http, https }: Proxies): string[] =>
  [http, https].flatMap((address) => (address === undefined ? [] : [decodeURIComponent(new URL(address).password)]));
