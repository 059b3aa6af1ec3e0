import * as v from 'valibot';
import { isFunctionCallPart, isFunctionResponsePart, isTextPart } from '../../core/index.ts';
import type { Content } from '../../core/index.ts';
import type { ModelRequest } from '../../models/index.ts';
import type { Outcome, OutcomeVerdict } from './outcome-places.ts';

type Goal = Pick<Outcome, 'description' | 'rubric'>;

const INSTRUCTION =
  'You judge the work of an agent. You get the goal and the whole conversation. ' +
  'Judge the latest state of the work and nothing else. Answer with one JSON object and no other text: ' +
  '{"result": "satisfied" or "needs_revision", "explanation": "what is missing and how to fix it, or why it is good"}.';

/**
 * Creates the request that asks a model to judge. The work is quoted as text in one message, so the grader cannot
 * mistake it for its own conversation.
 */
export function gradingRequest(goal: Goal, contents: readonly Content[]): ModelRequest {
  const text = `${goalText(goal)}\n\nThe work so far:\n\n${contents.map(formatContent).join('\n\n')}`;
  return { instruction: INSTRUCTION, contents: [{ role: 'user', parts: [{ text }] }], tools: [] };
}

/** The message that starts work on an outcome. */
export function taskText(goal: Goal): string {
  return `${goalText(goal)}\n\nYour work is judged by this. Work until it is reached.`;
}

/** The message after a round that did not satisfy the outcome. */
export function revisionText({ explanation }: Pick<OutcomeVerdict, 'explanation'>): string {
  return `The work was judged and does not reach the goal yet:\n\n${explanation}\n\nRevise it.`;
}

const verdictSchema = v.object({
  result: v.picklist(['satisfied', 'needs_revision', 'failed']),
  explanation: v.optional(v.string(), ''),
});

/**
 * Parses the grader's verdict.
 * @throws Error if the text contains no verdict; the grader is then called again
 */
export function parseVerdict(text: string): Pick<OutcomeVerdict, 'result' | 'explanation'> {
  // Models often wrap JSON in prose or in a code block.
  const found = /\{[\s\S]*\}/.exec(text)?.[0];
  if (found === undefined) throw new Error('the answer is not a JSON object');
  const parsed = v.safeParse(verdictSchema, JSON.parse(found));
  if (!parsed.success) throw new Error(`the answer is not a verdict: ${parsed.issues[0].message}`);
  return parsed.output;
}

function goalText({ description, rubric }: Goal): string {
  const by = rubric === undefined ? '' : `\n\nIt is judged by:\n${rubric}`;
  return `What is to be reached:\n${description}${by}`;
}

function formatContent({ role, parts }: Content): string {
  const texts = parts.flatMap((part) => {
    if (isTextPart(part)) return part.thought === true ? [] : [part.text];
    if (isFunctionCallPart(part))
      return [`(calls ${part.functionCall.name} ${JSON.stringify(part.functionCall.args)})`];
    if (isFunctionResponsePart(part))
      return [
        `(${part.functionResponse.name} returned ${JSON.stringify(part.functionResponse.response)})`,
      ];
    return ['(non-text content)'];
  });
  return `[${role}] ${texts.join('\n')}`;
}
