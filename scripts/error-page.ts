/** Writes the list of error codes as Markdown, for `docs/errors.md`. */
import { join, relative, resolve } from 'node:path';
import { PetrichorError } from '../src/core/index.ts';
import { ModelError, type ModelErrorKind } from '../src/models/index.ts';
import { HttpError, toErrorResponse, toHttpError } from '../src/server/http/http-error.ts';
import { walkNodes } from '../test/architecture/module-facts.ts';
import { isNode } from '../test/architecture/syntax-node.ts';
import {
  listErrorCodes,
  parseCodeComment,
  sourceFiles,
  type CodeComment,
  type ErrorCode,
} from './error-codes.ts';
import { parseModule, readModuleNames } from './module-exports.ts';

const root = resolve(import.meta.dirname, '..');

/** The sections of codes by folder of the source, in the order of the page. A longer folder wins. */
const areas: readonly (readonly [folder: string, title: string])[] = [
  ['src/core/', 'Values and input'],
  ['src/net/', 'Nets'],
  ['src/verify/', 'Proofs'],
  ['src/store/', 'Stores'],
  ['src/egress/', 'Outgoing requests'],
  ['src/models/', 'Models'],
  ['src/tools/', 'Tools'],
  ['src/tools/mcp/', 'MCP'],
  ['src/agents/', 'Agents'],
  ['src/runtime/', 'Runtime'],
  ['src/live/', 'Live sessions'],
  ['src/telemetry/', 'Telemetry'],
  ['src/adk/', 'ADK'],
  ['src/managed/', 'Managed sessions'],
  ['src/interop/', 'Interoperability'],
  ['src/client/', 'Client'],
  ['src/server/', 'Server'],
  ['src/cli/', 'Command line'],
];

/** The sections of codes by the type that lists them. */
const kinds: readonly (readonly [owner: string, title: string, introduction: string])[] = [
  [
    'ToolOutcome',
    'Outcomes of tool calls',
    'The `outcome` of a `tool.result` event. The response to the model has `error.code`: the outcome, or the code of the error that the tool threw.',
  ],
  [
    'HttpErrorType',
    'HTTP error types',
    'The `error.type` of an [error response](server.md). Where an error has a code, `error.details.error_code` has it.',
  ],
  [
    'error_code',
    'HTTP error codes',
    'Values of `error.details.error_code` that only the server has.',
  ],
  [
    'SessionErrorType',
    'Types of session.error events',
    'The `error.type` of a `session.error` event of the HTTP API. The code of the error is in the log of the server, and in the message unless the message itself states the reason.',
  ],
];

const BEGIN = '<!-- generated: npm run errors -->';

/** Replaces everything below the mark of a page. @throws Error if the page has no mark */
export function withErrorCodes(page: string): string {
  const end = page.indexOf(BEGIN);
  if (end < 0) throw new Error(`The page has no line "${BEGIN}".`);
  return `${page.slice(0, end)}${BEGIN}\n\n${toSections().join('\n\n')}\n`;
}

function toSections(): readonly string[] {
  const codes = listErrorCodes();
  const titled = (title: string, introduction: string, list: readonly ErrorCode[]): string[] =>
    list.length === 0
      ? []
      : [`## ${title}`, ...(introduction === '' ? [] : [introduction]), ...toEntries(list)];
  return [
    ...areas.flatMap(([folder, title]) =>
      titled(
        title,
        '',
        codes.filter((one) => kindOf(one) === undefined && findArea(one.file) === folder),
      ),
    ),
    ...kinds.flatMap(([owner, title, introduction]) =>
      titled(
        title,
        introduction,
        codes.filter((one) => kindOf(one) === owner),
      ),
    ),
    '## Exit codes',
    'The exit codes of [`petrichor`](cli.md). With `--json`, the code of the error is in the output.',
    listExitCodes(),
  ];
}

function kindOf({ owner }: ErrorCode): string | undefined {
  return kinds.find(([name]) => name === owner)?.[0];
}

function findArea(file: string): string | undefined {
  return areas
    .map(([folder]) => folder)
    .filter((folder) => file.startsWith(folder))
    .toSorted((a, b) => b.length - a.length)[0];
}

/** One entry for each code, in alphabetical order. */
function toEntries(codes: readonly ErrorCode[]): readonly string[] {
  const byCode = Map.groupBy(codes, ({ code }) => code);
  return [...byCode]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([code, same]) => [`### ${code}`, ...same.flatMap((one) => toEntry(one))]);
}

function toEntry(one: ErrorCode): readonly string[] {
  const facts = listFacts(one);
  return [
    ...(facts.length === 0 ? [] : [`${facts.join('. ')}.`]),
    `- Cause: ${one.cause}\n- Remedy: ${one.remedy ?? ''}`,
  ];
}

function listFacts(one: ErrorCode): readonly string[] {
  const { className, importPaths, owner } = one;
  const from = importPaths.map((path) => `\`${path}\``).join(' and ');
  const retryable = one.retryable ?? retryableKind(one);
  return [
    ...(className === undefined
      ? []
      : [`\`${className}\`${from === '' ? ', not exported' : ` from ${from}`}`]),
    ...(retryable === undefined ? [] : [retryable ? 'Retryable' : 'Not retryable']),
    ...(owner === 'HttpErrorType' ? listStatuses(one.code) : []),
    ...(owner === 'error_code' ? listStatusesWith(one) : []),
    // The command line does not serve its own errors.
    ...(className === undefined || one.file.startsWith('src/cli/') ? [] : mappedStatus(one.code)),
  ];
}

/** The kind of a `ModelError` determines whether it is retryable. */
function retryableKind({ className, code }: ErrorCode): boolean | undefined {
  if (className !== 'ModelError') return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the codes of this class are read from this type
  const kind = code.replace('model_', '') as ModelErrorKind;
  return new ModelError({ model: '', kind, message: '' }).retryable;
}

/** The status that the server sends for an error with this code, if it sends one of its own. */
function mappedStatus(code: string): readonly string[] {
  const error = new (class extends PetrichorError {
    override readonly code = code;
  })('');
  const { status, type } = toHttpError(error);
  return status === 500 ? [] : [`HTTP ${status} \`${type}\``];
}

interface ThrownStatus {
  readonly file: string;
  readonly status: number;
  /** The source of the expression. */
  readonly source: string;
}

/** Every `new HttpError(…)` with a number as its status. */
const thrownStatuses: readonly ThrownStatus[] = sourceFiles
  .filter((file) => relative(root, file).startsWith('src/server/'))
  .flatMap((file) => {
    const { text, program } = parseModule(file);
    return walkNodes(program).flatMap((node) => {
      const [status]: readonly unknown[] = Array.isArray(node['arguments'])
        ? node['arguments']
        : [];
      const { callee, start, end } = node;
      if (!isNode(callee) || callee['name'] !== 'HttpError' || !isNode(status)) return [];
      if (typeof status['value'] !== 'number') return [];
      const source = text.slice(Number(start), Number(end));
      return [{ file: relative(root, file), status: status['value'], source }];
    });
  });

function listStatuses(type: string): readonly string[] {
  const statuses = [...new Set(thrownStatuses.map(({ status }) => status))]
    .filter((status) => new HttpError(status, '').type === type)
    .toSorted((a, b) => a - b);
  const isRetried = statuses.every(
    (status) =>
      toErrorResponse(new HttpError(status, ''), '').headers.get('x-should-retry') === 'true',
  );
  return [`HTTP ${statuses.join(', ')}`, isRetried ? 'Retryable' : 'Not retryable'];
}

function listStatusesWith({ code, file }: ErrorCode): readonly string[] {
  return thrownStatuses
    .filter((one) => one.file === file && one.source.includes(`error_code: '${code}'`))
    .map(({ status }) => `HTTP ${status} \`${new HttpError(status, '').type}\``);
}

function listExitCodes(): string {
  const { own } = readModuleNames(join(root, 'src/cli/command/exit-code.ts'));
  const describe = (name: string): CodeComment => parseCodeComment(own.get(name)?.[0]?.comment);
  const numbers = [...own].flatMap(([name, [declared]]) => {
    const value = /^export const EXIT_\w+: ExitCode = (\d+);$/.exec(declared?.text ?? '')?.[1];
    return value === undefined ? [] : [`- ${value}: ${describe(name).cause}`];
  });
  return [...numbers, `- 128 + n: ${describe('toExitCode').cause}`].join('\n');
}
