import { isFunctionCallPart, isTextPart } from '../../core/index.ts';
import type { Part } from '../../core/index.ts';
import { BasePlanner } from './base-planner.ts';

const PLANNING = '/*PLANNING*/';
const REPLANNING = '/*REPLANNING*/';
const REASONING = '/*REASONING*/';
const ACTION = '/*ACTION*/';
const FINAL_ANSWER = '/*FINAL_ANSWER*/';

const INSTRUCTION = `Work in three steps. First write a numbered plan that uses the tools you have and answers all of the question, under ${PLANNING}. Then carry it out: call tools under ${ACTION}, and between calls say under ${REASONING} what their results mean and what comes next. Last, give the whole answer under ${FINAL_ANSWER}.
If the plan turns out not to work, write another one under ${REPLANNING} and go on with that.
The plan comes before the first call. Use only tools and arguments that exist, and results that you were given; what you do not know, ask a tool for, or say that it is missing. What stands under ${FINAL_ANSWER} must be understood without the rest.`;

/**
 * Makes any model write a plan, carry it out with its tools, and mark its final answer. Everything except the answer is
 * treated as thinking.
 */
export class PlanReActPlanner extends BasePlanner {
  override buildPlanningInstruction(): string {
    return INSTRUCTION;
  }

  override processPlanningResponse({
    parts,
  }: {
    readonly parts: readonly Part[];
  }): readonly Part[] | undefined {
    const answered = parts.some((part) => isTextPart(part) && part.text.includes(FINAL_ANSWER));
    const lastCall = parts.findLastIndex(isFunctionCallPart);
    // Text after the calls was written before their results were known.
    const kept = lastCall === -1 ? parts : parts.slice(0, lastCall + 1);
    if (!answered && !kept.some(hasTag)) return kept.length === parts.length ? undefined : kept;
    return kept.flatMap((part) => {
      if (!isTextPart(part) || part.thought === true) return [part];
      const at = part.text.lastIndexOf(FINAL_ANSWER);
      if (at === -1) return [toThought(part.text)];
      const answer = part.text.slice(at + FINAL_ANSWER.length).trim();
      const before = part.text.slice(0, at).trim();
      return [...(before === '' ? [] : [toThought(before)]), { ...part, text: answer }];
    });
  }
}

function hasTag(part: Part): boolean {
  return (
    isTextPart(part) &&
    [PLANNING, REPLANNING, REASONING, ACTION].some((tag) => part.text.includes(tag))
  );
}

function toThought(text: string): Part {
  return { text, thought: true };
}
