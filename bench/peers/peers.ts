import type { Peer } from './peer.ts';

/** Each program is loaded in a process of its own, when it is measured. */
export const peerModules: Readonly<Record<string, () => Promise<Peer>>> = {
  petrichor: async () => (await import('./packages/petrichor.ts')).petrichor,
  ai: async () => (await import('./packages/ai.ts')).ai,
  '@openai/agents': async () => (await import('./packages/openai-agents.ts')).openaiAgents,
  '@langchain/langgraph': async () => (await import('./packages/langgraph.ts')).langgraph,
  '@mastra/core': async () => (await import('./packages/mastra.ts')).mastra,
  '@iqai/adk': async () => (await import('./packages/iqai-adk.ts')).iqaiAdk,
  '@google/adk': async () => (await import('./packages/google-adk.ts')).googleAdk,
};

export const peerNames: readonly string[] = Object.keys(peerModules);

export async function loadPeer(name: string): Promise<Peer> {
  const load = peerModules[name];
  if (load === undefined) throw new Error(`There is no peer "${name}": ${peerNames.join(', ')}.`);
  return load();
}
