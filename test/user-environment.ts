/**
 * The environment of a user's shell: that of this process without the variables that npm and Node's test runner set.
 * What npm needs to reach its registry stays, such as certificates and proxies.
 */
export function createUserEnvironment(
  changes: Readonly<Record<string, string>>,
): Readonly<Record<string, string | undefined>> {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(?:npm_|node_test|init_cwd$)/i.test(name),
  );
  return { ...Object.fromEntries(kept), ...changes };
}
