import { signal } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import type { ConsoleClient } from '../api/console-client.ts';
import type { Proof, ProofChange } from '../api/types.ts';
import { untilReached } from '../api/until-reached.ts';

/** A proof while it runs. */
export interface FollowedProof {
  readonly proof: ReadonlySignal<Proof | undefined>;
  /** The properties that the search decides at present. */
  readonly deciding: ReadonlySignal<readonly string[]>;
  readonly error: ReadonlySignal<Error | undefined>;
}

/** Follows a proof to its end, or until the signal aborts. A connection that breaks is replaced. */
export function followProof(
  client: ConsoleClient,
  id: string,
  aborted: AbortSignal,
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
  };
  untilReached(follow, aborted).catch((cause: unknown) => {
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
