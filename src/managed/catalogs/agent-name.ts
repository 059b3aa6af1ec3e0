/** The name that a session's journal has for its agent: which one, in which version, in which environment. */
export function formatAgentName(agentId: string, version: number, environment: string): string {
  return `${agentId}-v${version}${environment === '' ? '' : `-${environment}`}`;
}

/** What such a name says; undefined for one of another make. */
export function parseAgentName(
  name: string,
):
  | { readonly agentId: string; readonly version: number; readonly environment: string }
  | undefined {
  const [, agentId, version, environment = ''] = /^(.+)-v(\d+)(?:-(e[0-9a-f]+))?$/.exec(name) ?? [];
  if (agentId === undefined || version === undefined) return undefined;
  return { agentId, version: Number(version), environment };
}
