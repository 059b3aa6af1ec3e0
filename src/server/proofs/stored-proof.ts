import { isJsonObject } from '../../core/index.ts';
import type { Json } from '../../core/index.ts';
import type { Wire } from '../wire/component.ts';

/** A proof as the store has it: its wire form, and the server that runs it. */
export interface StoredProof {
  readonly proof: Wire<'Proof'>;
  /** The id of the server process. */
  readonly owner: string;
}

/** True if the proof does not change any more. */
export function isEnded({ status }: Pick<Wire<'Proof'>, 'status'>): boolean {
  return status !== 'queued' && status !== 'running';
}

/** Reads a document that `ProofJobs` wrote. */
export function parseStoredProof(value: Json | undefined): StoredProof | undefined {
  if (!isJsonObject(value) || !isJsonObject(value['proof'])) return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only ProofJobs writes documents of this kind
  return value as unknown as StoredProof;
}

export function toStoredJson({ proof, owner }: StoredProof): Json {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the wire form is JSON; its declared type is not
  return { owner, proof: proof as unknown as Json };
}
