/**
 * The URL of a store to show: without user, password and options of a database. A text that is no URL of a store is
 * shown as it is.
 */
export function describeStoreUrl(url: string): string {
  const [, scheme = '', rest = ''] =
    /^(postgres|postgresql|mysql|mariadb)(?:\+[^:]*)?:\/\/(.*)$/is.exec(url) ?? [];
  // A password that should have been encoded may contain "@", "/" and "?".
  return scheme === '' ? url : `${scheme}://${rest.replace(/^.*@/s, '').replace(/\?.*$/s, '')}`;
}
