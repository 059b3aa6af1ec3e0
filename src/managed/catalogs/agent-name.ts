/** The agent name in a session's journal: agent id, version and environment. */
export function formatAgentName(agentId: string, version: number, environment: string): string {
  return `${agentId}-v${version}${environment === '' ? '' : `-${environment}`}`;
}

/** Parses such a name. Returns `undefined` for a name in another format. */
export function parseAgentName(
  name: string,
):
  | { readonly agentId: string; readonly version: number; readonly environment: string }
  | undefined {
  const [, agentId, version, environment = ''] = /^(.+)-v(\d+)(?:-(e[0-9a-f]+))?$/.exec(name) ?? [];
  if (agentId === undefined || version === undefined) return undefined;
  return { agentId, version: Number(version), environment };
}

/** Derives the id of an agent that a program or a file names: `agent_` and its name in lower case. */
export function deriveAgentId(name: string): string {
  const slug = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return `agent_${slug === '' ? 'agent' : slug}`;
}
