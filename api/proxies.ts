/** The proxies between here and the service, as `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` have them. */
export interface Proxies {
  /** Proxy for addresses with http://, and for the others where `https` is absent. */
  http?: string | undefined;
  /** Proxy for addresses with https://. */
  https?: string | undefined;
  /** Hosts that are reached without one, separated by commas; with their subdomains, `*` for all. */
  none?: string | undefined;
}

/** The passwords in the addresses of proxies: no error may show them. */
export const proxyPasswords = ({ http, https }: Proxies): string[] =>
  [http, https].flatMap((address) => {
    const password = address === undefined ? "" : decodeURIComponent(new URL(address).password);
    return password === "" ? [] : [password];
  });
