import type { Json, JsonObject, Route } from '../../core/index.ts';

/** The progress of a custom agent or a function node: the part of its token that its generator needs. */
export interface GeneratorStep {
  readonly invocationId: string;
  /** Identifies the run. The same over crashes and retries. */
  readonly activation: string;
  /** The number of its yields so far. */
  readonly yielded: number;
  /** The replies to its yields, by the index of the yield. Tokens of 0.1.0 have a list, with null for no reply. */
  readonly replies?: JsonObject | readonly (JsonObject | null)[] | undefined;
  /** Its last output so far. */
  readonly output?: Json | undefined;
  readonly route?: Route | undefined;
  /** True when it asked to leave the enclosing loop. */
  readonly escalate?: boolean | undefined;
}

/** The reply to the last of the first `yielded` yields, if it has one. */
export function findReply({ replies }: GeneratorStep, yielded: number): Json | undefined {
  return toReplies(replies)[yielded - 1];
}

/** The step with a reply to its last yield. */
export function addReply<Step extends GeneratorStep>(step: Step, reply: Json): Step {
  return { ...step, replies: { ...toReplies(step.replies), [step.yielded - 1]: reply } };
}

function toReplies(replies: GeneratorStep['replies']): JsonObject {
  if (!isList(replies)) return replies ?? {};
  return Object.fromEntries(
    replies.flatMap((reply, index) => (reply === null ? [] : [[String(index), reply]])),
  );
}

// Array.isArray alone does not narrow a readonly array out of a union.
function isList(
  replies: GeneratorStep['replies'],
): replies is Extract<GeneratorStep['replies'], readonly unknown[]> {
  return Array.isArray(replies);
}
