import type { JsonObject } from '../../../src/core/index.ts';

/** One answer of a scripted model. */
export interface Answer {
  readonly text?: string;
  readonly thought?: string;
  readonly calls?: readonly ScriptedCall[];
  /** Pieces of `text` that are streamed before the answer. */
  readonly pieces?: readonly string[];
  /** Gemini's name of the reason, such as `STOP`. */
  readonly finishReason?: 'STOP' | 'MAX_TOKENS' | 'SAFETY';
  readonly usage?: { readonly prompt: number; readonly candidates: number };
  /** The model fails with this message. */
  readonly fails?: string;
}

/** A call that a scripted model makes. The runtimes create its id. */
export interface ScriptedCall {
  readonly name: string;
  readonly args?: JsonObject;
}

/** The answers of one model, one for each call of it. */
export type Script = readonly Answer[];

/** Returns the answers of a script in order. @throws Error after the last one */
export function createScriptReader(agentName: string, script: Script): () => Answer {
  let next = 0;
  return () => {
    const answer = script[next++];
    if (answer === undefined)
      throw new Error(`The script of ${agentName} has no answer ${next}: too many model calls.`);
    return answer;
  };
}
