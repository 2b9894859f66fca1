/** Proxy settings, as in `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`. */
export interface Proxies {
  /** Proxy for http:// URLs; also for https:// URLs if `https` is absent. */
  http?: string | undefined;
  /** Proxy for https:// URLs. */
  https?: string | undefined;
  /** Comma-separated hosts that are reached without a proxy, including their subdomains; `*` for all hosts. */
  noProxy?: string | undefined;
}

/** The passwords in proxy addresses, which must not appear in errors. */
export const proxyPasswords = ({ http, https }: Proxies): string[] =>
  [http, https].flatMap((address) => {
    const password = address === undefined ? "" : decodeURIComponent(new URL(address).password);
    return password === "" ? [] : [password];
  });
