import { signal } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import { ConnectionError } from '../../../src/client/index.ts';
import { delay } from '../../../src/client/delay.ts';
import type { Delay } from '../../../src/client/delay.ts';
import type { Follow, Proof, ProofChange } from '../api/types.ts';
import { untilReached } from '../api/until-reached.ts';

/** A proof while it runs. */
export interface FollowedProof {
  readonly proof: ReadonlySignal<Proof | undefined>;
  /** The properties that the search decides at present. */
  readonly deciding: ReadonlySignal<readonly string[]>;
  readonly error: ReadonlySignal<Error | undefined>;
}

/**
 * Follows a proof to its end, or until the signal aborts. A connection that breaks, or that ends before the proof, is
 * replaced.
 */
export function followProof(
  client: { readonly follow: Follow },
  id: string,
  aborted: AbortSignal,
  wait: Delay = delay,
): FollowedProof {
  const proof = signal<Proof | undefined>(undefined);
  const deciding = signal<readonly string[]>([]);
  const error = signal<Error | undefined>(undefined);
  const follow = async (): Promise<void> => {
    const path = `/v1/proofs/${encodeURIComponent(id)}/stream`;
    for await (const change of client.follow<ProofChange>(path, aborted)) {
      if (change.type === 'proof.state' || change.type === 'proof.ended') {
        proof.value = change.proof;
        if (change.type === 'proof.ended') return;
      } else if (proof.value !== undefined) {
        deciding.value = change.type === 'proof.progress' ? change.properties : deciding.value;
        proof.value = addChange(proof.value, change);
      }
    }
    // A server that stops ends its streams as if they were complete.
    throw new ConnectionError(path, 'the stream ended before the proof');
  };
  untilReached(follow, aborted, wait).catch((cause: unknown) => {
    if (!aborted.aborted) error.value = cause instanceof Error ? cause : new Error(String(cause));
  });
  return { proof, deciding, error };
}

/** Adds what the stream says to the state that it began with. */
export function addChange(
  proof: Proof,
  change: Extract<ProofChange, { readonly type: 'proof.progress' | 'proof.result' }>,
): Proof {
  if (change.type === 'proof.progress')
    return { ...proof, status: 'running', states: change.states };
  const { result } = change;
  const others = proof.results.filter((one) => one.name !== result.name);
  return { ...proof, status: 'running', results: [...others, result] };
}
