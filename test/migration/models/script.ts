/** A tool call of an answer. */
export interface ScriptedCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** One answer of the model: tool calls, or a text in pieces. */
export type ScriptedAnswer =
  | { readonly calls: readonly ScriptedCall[] }
  | { readonly text: readonly string[] };

/** Finds the answer to a request with so many answers in it. */
export type Script = (answersBefore: number) => ScriptedAnswer;

const answers: readonly ScriptedAnswer[] = [
  { calls: [{ name: 'find_order', args: { order: 'A-7' } }] },
  { calls: [{ name: 'refund', args: { order: 'A-7', cents: 4200 } }] },
  { text: ['I', ' refunded', ' 42.00', ' for', ' A-7.'] },
];

/** The answers of every program. */
export const script: Script = toScript(answers);

/** @throws if the script has no answer for a request */
export function toScript(list: readonly ScriptedAnswer[]): Script {
  return (answersBefore) => {
    const answer = list[answersBefore];
    if (answer === undefined) throw new Error(`The script has ${list.length} answers.`);
    return answer;
  };
}

const order = { order: 'A-7' };

/** One answer with two calls, then a text. */
export const bothCalls: Script = toScript([
  {
    calls: [
      { name: 'find_order', args: order },
      { name: 'refund', args: order },
    ],
  },
  { text: ['Done.'] },
]);

/** One call of `refund`, then texts. */
export const oneRefund: Script = toScript([
  { calls: [{ name: 'refund', args: order }] },
  { text: ['Done.'] },
  { text: ['Yes.'] },
  { text: ['Yes again.'] },
]);

/** Two answers with a call of `refund`, then texts. */
export const refundTwice: Script = toScript([
  { calls: [{ name: 'refund', args: order }] },
  { calls: [{ name: 'refund', args: order }] },
  { text: ['Done.'] },
  { text: ['Done.'] },
]);

/** A call of `find_order`, a call of `refund`, then a text. */
export const twoSteps: Script = toScript([
  { calls: [{ name: 'find_order', args: order }] },
  { calls: [{ name: 'refund', args: order }] },
  { text: ['Done.'] },
]);

/** Calls `find_order` in every answer. */
export const endless: Script = () => ({ calls: [{ name: 'find_order', args: order }] });

/** Fails once, then answers as `oneRefund`. */
export function failOnce(error: Error): Script {
  let failed = false;
  return (answersBefore) => {
    if (failed) return oneRefund(answersBefore);
    failed = true;
    throw error;
  };
}
