import * as v from 'valibot';
import { isFunctionCallPart, isFunctionResponsePart, isTextPart } from '../../core/index.ts';
import type { Content } from '../../core/index.ts';
import type { ModelRequest } from '../../models/index.ts';
import type { Outcome, OutcomeVerdict } from './session-places.ts';

type Goal = Pick<Outcome, 'description' | 'rubric'>;

const INSTRUCTION =
  'You judge the work of an agent. You are given what was to be reached and all that was said and done. ' +
  'Judge the latest state of the work and nothing else. Answer with one JSON object and no other text: ' +
  '{"result": "satisfied" or "needs_revision", "explanation": "what is missing and how to mend it, or why it is good"}.';

/** Asks a model to judge. The work is text inside one message, so that it cannot pass for the grader's own conversation. */
export function gradingRequest(goal: Goal, contents: readonly Content[]): ModelRequest {
  const text = `${goalText(goal)}\n\nThe work so far:\n\n${contents.map(formatContent).join('\n\n')}`;
  return { instruction: INSTRUCTION, contents: [{ role: 'user', parts: [{ text }] }], tools: [] };
}

/** What the agent is told when work on an outcome begins. */
export function taskText(goal: Goal): string {
  return `${goalText(goal)}\n\nYour work is judged by this. Work until it is reached.`;
}

/** What the agent is told when a round was not good enough. */
export function revisionText({ explanation }: Pick<OutcomeVerdict, 'explanation'>): string {
  return `The work was judged and is not there yet:\n\n${explanation}\n\nRevise it.`;
}

const verdictSchema = v.object({
  result: v.picklist(['satisfied', 'needs_revision', 'failed']),
  explanation: v.optional(v.string(), ''),
});

/** @throws Error when the text holds no verdict: the grader is asked again */
export function parseVerdict(text: string): Pick<OutcomeVerdict, 'result' | 'explanation'> {
  // Models like to wrap JSON in words or in a code block.
  const found = /\{[\s\S]*\}/.exec(text)?.[0];
  if (found === undefined) throw new Error('the answer is no JSON object');
  const parsed = v.safeParse(verdictSchema, JSON.parse(found));
  if (!parsed.success) throw new Error(`the answer is no verdict: ${parsed.issues[0].message}`);
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
        `(${part.functionResponse.name} gave ${JSON.stringify(part.functionResponse.response)})`,
      ];
    return ['(something that is no text)'];
  });
  return `[${role}] ${texts.join('\n')}`;
}
