import type { ModelRef } from 'petrichor/models';
import type { WireFormat } from './wire-format.ts';
import { openWireServer, wireEnv } from './wire-server.ts';
import type { WireTurn } from './wire-turn.ts';

/** Where an example finds its model. */
export interface StandIn extends AsyncDisposable {
  readonly ref: ModelRef;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** False for the real service, whose responses are unknown. */
  readonly isScripted: boolean;
}

/**
 * The real service if its key is in the environment; otherwise a local server with the same
 * protocol that plays turns.
 */
export async function openStandIn(
  ref: ModelRef,
  format: WireFormat,
  turns: readonly WireTurn[],
): Promise<StandIn> {
  if (process.env[format.keyVariable] !== undefined) {
    return { ref, env: process.env, isScripted: false, [Symbol.asyncDispose]: async () => {} };
  }
  const server = await openWireServer(format, turns);
  const place = typeof ref === 'string' ? { provider: format.provider, model: ref } : ref;
  return {
    ref: { ...place, baseUrl: server.baseUrl } as ModelRef,
    env: wireEnv(format, server.baseUrl),
    isScripted: true,
    [Symbol.asyncDispose]: async () => server[Symbol.asyncDispose](),
  };
}
