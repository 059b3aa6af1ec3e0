import { markdownTable } from '../markdown-table.ts';
import type { Comparison } from './compare-programs.ts';
import { KNOWN_DIFFERENCES, PYTHON_DIFFERENCES } from './known-differences.ts';
import { SPELLINGS } from './normalize.ts';

/** The page on the comparison with `@google/adk`, in Markdown. */
export function createParityPage(comparisons: readonly Comparison[], version: string): string {
  const occurring = KNOWN_DIFFERENCES.map((known, index) => ({
    ...known,
    number: index + 1,
    programs: comparisons
      .filter(({ differences }) => differences.some((one) => known.matches(one)))
      .map(({ program }) => program.name),
  }));
  return `# Parity with @google/adk

${comparisons.length} programs run on \`@google/adk\` ${version} and on \`petrichor/adk\`, with the same scripted models. [test/adk-comparison/parity](../../test/adk-comparison/parity) compares every model request (system instruction, contents, tools and options), every event, and the final state, field by field. A difference that is not in the tables below fails \`npm run test:adk-parity\`; so does a row that no longer occurs.

\`npm run adk-parity\` writes this page.

## Programs

The numbers are those of the differences below. \`=\` means that all fields are the same.

${markdownTable(
  ['area', 'program', 'requests', 'events', 'differences'],
  comparisons.map(({ program, requests, events, differences }) => [
    program.area,
    program.name,
    String(requests),
    String(events),
    occurring
      .filter((known) => differences.some((one) => known.matches(one)))
      .map(({ number }) => number)
      .join(', ') || '=',
  ]),
)}

## Differences

An _intended_ difference stays. An _open_ one is to be removed.

${markdownTable(
  ['', 'subject', '@google/adk', 'petrichor/adk', 'status', 'reason'],
  occurring.map(({ number, subject, stock, petrichor, status, reason }) => [
    String(number),
    subject,
    stock,
    petrichor,
    status,
    reason,
  ]),
)}

## ADK for Python

Prompts follow ADK for TypeScript. ADK for Python differs from it:

${markdownTable(['subject', 'difference'], PYTHON_DIFFERENCES)}

## Spellings

These fields are spelled differently in every program, and are equal in the comparison.

${markdownTable(['subject', 'spelling'], SPELLINGS)}
`;
}
