import { parseArgs } from 'node:util';
import { defaultTemplate, templates } from './templates.ts';

/** What a command line asks for. */
export type Request =
  | { readonly kind: 'help' }
  | {
      readonly kind: 'create';
      readonly folder: string;
      readonly template: string;
      /** What the project depends on: a version range, or the path of a packed package. */
      readonly petrichor: string | undefined;
    };

/** A command line that names no project. The message says what to write instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** @throws UsageError for an unknown option or template, and when there is not exactly one folder. */
export function readArguments(args: readonly string[]): Request {
  const { values, positionals } = parse(args);
  if (values.help === true) return { kind: 'help' };
  const [folder, ...more] = positionals;
  if (folder === undefined || folder === '')
    throw new UsageError('Name the folder of the project: npm create petrichor my-agent');
  if (more.length > 0)
    throw new UsageError(
      `Name one folder. ${more.map((one) => `'${one}'`).join(', ')}: unexpected.`,
    );
  const { template = defaultTemplate, petrichor } = values;
  if (!Object.hasOwn(templates, template))
    throw new UsageError(
      `--template: '${template}' is unknown. It is one of ${Object.keys(templates).join(', ')}.`,
    );
  return { kind: 'create', folder, template, petrichor };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        template: { type: 'string', short: 't' },
        petrichor: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

export function helpText(): string {
  const longest = Math.max(...Object.keys(templates).map((name) => name.length));
  const lines = Object.entries(templates).map(
    ([name, text]) =>
      `  ${name.padEnd(longest)}  ${text}${name === defaultTemplate ? ' (default)' : ''}`,
  );
  return `npm create petrichor FOLDER -- [--template NAME] [--petrichor VERSION]

Creates a project in FOLDER, which must be new or empty. Nothing is installed.

Templates
${lines.join('\n')}

Options
  --template NAME      The template
  --petrichor VERSION  The version of petrichor, or the path of a packed petrichor-*.tgz
  --help               Show this page`;
}
