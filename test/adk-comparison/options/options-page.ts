import { markdownTable } from '../markdown-table.ts';
import { listDeclaredOptions } from './declared-options.ts';
import { OPTION_SUBJECTS } from './option-subjects.ts';
import type { OptionSubject } from './option-subjects.ts';

/** The page on the options of `@google/adk`, in Markdown. */
export function createOptionsPage(): string {
  const rows = OPTION_SUBJECTS.flatMap((subject) =>
    listDeclaredOptions(subject.declared)
      .concat(subject.python)
      .map((option) => [
        subject.name,
        `\`${option}\``,
        subject.python.includes(option) ? 'Python' : 'TypeScript',
        describeOption(subject, option),
      ]),
  );
  return `# Options of ADK

Every option of \`@google/adk\`, read from its type declarations, and options that only ADK for Python has, in camelCase. An option that is not supported is an \`UnknownFieldError\` that names it; none is ignored. [A test](../../test/adk-comparison/options/stock-options.test.ts) uses each of them, and \`npm run adk-parity\` writes this page.

${markdownTable(['type', 'option', 'of ADK for', 'here'], rows)}
`;
}

function describeOption({ table, refused }: OptionSubject, option: string): string {
  if (Object.hasOwn(table.names, option)) return 'supported';
  const replacement = table.otherNames[option];
  return replacement === undefined
    ? `refused. ${refused[option] ?? ''}`
    : `refused: use \`${replacement}\``;
}
