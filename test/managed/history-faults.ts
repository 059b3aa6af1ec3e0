import { isFunctionCallPart, isFunctionResponsePart } from '../../src/core/index.ts';
import type { Content } from '../../src/core/index.ts';

/** The faults of a conversation shown to a model: each call must have exactly one result, directly after it. */
export function historyFaults(contents: readonly Content[]): readonly string[] {
  const faults: string[] = [];
  let open: readonly string[] = [];
  for (const { role, parts } of contents) {
    const answers = parts.flatMap((part) =>
      isFunctionResponsePart(part) ? [part.functionResponse.id] : [],
    );
    const unrequested = answers.filter((id) => !open.includes(id));
    if (unrequested.length > 0) faults.push(`answers to nothing: ${unrequested.join(', ')}`);
    if (new Set(answers).size < answers.length) faults.push(`answered twice: ${answers.join()}`);
    open = open.filter((id) => !answers.includes(id));
    if (open.length > 0) faults.push(`not answered before a ${role} went on: ${open.join(', ')}`);
    open = parts.flatMap((part) => (isFunctionCallPart(part) ? [part.functionCall.id] : []));
  }
  if (open.length > 0) faults.push(`never answered: ${open.join(', ')}`);
  return faults;
}
