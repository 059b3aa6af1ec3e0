import { InvalidInputError } from '../core/index.ts';
import { importOptional, isModuleNotFound } from '../core/internal.ts';
import { MissingServerPackageError } from './http/missing-server-package-error.ts';
import type { Protocol } from './protocols/protocol.ts';

/** The protocols that a server can speak. */
export type ProtocolName = 'managed' | 'ag-ui' | 'ai-sdk' | 'a2a' | 'mcp' | 'openai' | 'adk';

/** Each is loaded when a server speaks it, because some need a library of their own. */
const PROTOCOLS: Readonly<Record<ProtocolName, () => Promise<Protocol>>> = {
  managed: async () => (await import('./protocols/managed/managed-protocol.ts')).managedProtocol,
  'ag-ui': async () => (await import('./protocols/ag-ui/ag-ui-protocol.ts')).agUiProtocol,
  'ai-sdk': async () => (await import('./protocols/ai-sdk/ai-sdk-protocol.ts')).aiSdkProtocol,
  a2a: async () =>
    withPackage('@a2a-js/sdk', (await import('./protocols/a2a/a2a-protocol.ts')).openA2aProtocol()),
  mcp: async () =>
    withPackage(
      '@modelcontextprotocol/server',
      (await import('./protocols/mcp/mcp-protocol.ts')).openMcpProtocol(),
    ),
  openai: async () => (await import('./protocols/openai/openai-protocol.ts')).openAiProtocol,
  adk: async () => (await import('./protocols/adk/adk-protocol.ts')).adkProtocol,
};

/** @throws MissingServerPackageError when the package of a protocol is not installed */
async function withPackage(name: string, loading: Promise<Protocol>): Promise<Protocol> {
  return importOptional(loading, (cause) =>
    isModuleNotFound(cause) ? new MissingServerPackageError(name, cause) : cause,
  );
}

/** The names of all protocols, in the order of the documentation. */
export const PROTOCOL_NAMES: readonly ProtocolName[] =
  Object.keys(PROTOCOLS).filter(isProtocolName);

export const DEFAULT_PROTOCOLS: readonly ProtocolName[] = ['managed'];

/**
 * Loads protocols by their names.
 * @throws InvalidInputError for an unknown name, and for an empty list; MissingServerPackageError when the package of a
 *   protocol is not installed
 */
export async function loadProtocols(names: readonly string[]): Promise<readonly Protocol[]> {
  const known = parseProtocolNames(names);
  return Promise.all(known.map(async (name) => PROTOCOLS[name]()));
}

/** @throws InvalidInputError for an unknown name, and for an empty list */
export function parseProtocolNames(names: readonly string[]): readonly ProtocolName[] {
  const hint = `Use some of ${PROTOCOL_NAMES.join(', ')}.`;
  if (names.length === 0) throw new InvalidInputError('protocols', `must not be empty. ${hint}`);
  return [...new Set(names)].map((name) => {
    if (isProtocolName(name)) return name;
    throw new InvalidInputError('protocols', `has "${name}", which is not a protocol. ${hint}`);
  });
}

function isProtocolName(name: string): name is ProtocolName {
  return Object.hasOwn(PROTOCOLS, name);
}
