import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { omitUndefined } from '../../core/internal.ts';
import type { AgentProofLimits } from '../../agents/index.ts';
import {
  createFileProofCache,
  InvalidPropertyError,
  isProved,
  prove,
  UnknownNameError,
} from '../../verify/index.ts';
import type { ProofCache, ProofReport, Property, ProveOptions } from '../../verify/index.ts';
import { checkNames, describeProof, formatForm, propertyForms } from '../../verify/internal.ts';
import type { CliContext } from '../command/cli-context.ts';
import { defineCommand, type Command } from '../command/command.ts';
import { EXIT_FAILURE, EXIT_OK } from '../command/exit-code.ts';
import { parseProperty } from '../loading/parse-property.ts';
import { agentOption } from '../command/shared-options.ts';
import { UsageError } from '../command/usage-error.ts';
import { explainProperty, explainVerdict } from '../prove/explain-property.ts';
import { findProofCacheFolder } from '../prove/proof-cache-folder.ts';
import { loadProofSubject } from '../prove/proof-subject.ts';
import type { ProofSubject } from '../prove/proof-subject.ts';
import { FIRST_WORDS, toProofTestFile } from '../prove/proof-test-file.ts';
import { drawFirstRefutation, JsonProofView, TextProofView } from '../prove/proof-view.ts';
import { watchProof } from '../prove/watch-proof.ts';
import { createPaint } from '../terminal/paint.ts';
import { printable } from '../terminal/printable.ts';

/** The command that proves properties of an agent's net, or shows a counterexample. */
export const proveCommand: Command = defineCommand({
  name: 'prove',
  operands: ['AGENT_MODULE'],
  summary: 'Prove properties of the net of an agent, or of a net',
  description: [
    'Explores every order of events, every declared outcome and every failure, within the bounds that the report',
    'names. Nothing runs: no model and no tool is called. A refuted property comes with a counterexample: the steps',
    'that lead to it and its markings. The rules that an agent keeps by its arcs alone are checked, too.',
    '',
    'Verdicts are printed as they come. Ctrl-C ends the proof and keeps what is known. Decided properties are stored, so',
    'that the next run searches only what changed. A stored counterexample is replayed before it is printed.',
    '',
    'Default properties of an agent: deadlockFree, oneTurn, reaskBudgetIsBounded, noFireAfterEndInvocation,',
    'noToolAfterInterrupt, approved for each tool that always needs an approval, for a workflow everyNodeReachable and',
    'joinsComplete, and for several agents the bounds of their loops, steps and transfers. A module without agents may export a net; its default',
    'properties are deadlockFree, bounded, and those that its arcs suggest. A property is one of these names, or a',
    'property as text or JSON:',
    ...propertyForms.map((form) => `  ${formatForm(form)}`),
    '',
    'Exits with 0 if everything is proved and no rule is broken, with 1 if something is refuted or unknown.',
    'With --strict, also exits with 1 if something is proved only for the part of the net that the bounds let it reach.',
  ].join('\n'),
  options: {
    agent: agentOption,
    property: {
      type: 'string',
      multiple: true,
      value: 'PROPERTY',
      summary: 'Prove only this property; may be repeated',
    },
    rests: {
      type: 'string',
      multiple: true,
      value: 'PLACE',
      summary:
        "A place that may hold tokens at rest, in addition to the agent's own; may be repeated",
    },
    messages: { type: 'string', value: 'N', summary: 'The number of user messages. Default: 1' },
    'at-once': {
      type: 'string',
      value: 'N',
      summary:
        'The number of tool calls of a response, and of further model calls of a turn. Default: 2',
    },
    faults: {
      type: 'string',
      value: 'N',
      summary: 'The number of transitions whose own logic fails. Default: 1',
    },
    strict: {
      type: 'boolean',
      summary: 'Also fail if the bounds left a part of the net unreached. Use it in CI',
    },
    control: {
      type: 'boolean',
      summary:
        'Also pause, resume, complete and archive the session, append an event, and define an outcome, once each. For a session of one agent',
    },
    shutdowns: { type: 'boolean', summary: 'Also let the owner shut down at any time' },
    states: {
      type: 'string',
      value: 'N',
      summary: 'Stop the search after this many states. Default: 1000000',
    },
    'solver-seconds': {
      type: 'string',
      value: 'N',
      summary:
        'Time limit of the solver for what the search does not decide. 0: no solver. Default: 20',
    },
    cache: {
      type: 'string',
      value: 'DIR',
      summary:
        'The folder of stored proofs. Default: node_modules/.cache/petrichor/proofs, or petrichor/proofs in $XDG_CACHE_HOME or ~/.cache',
    },
    'no-cache': { type: 'boolean', summary: 'Do not read or store proofs' },
    progress: {
      type: 'boolean',
      summary:
        'With --json: also write the net and its bounds first, and the number of states while it searches',
    },
    'fail-fast': { type: 'boolean', summary: 'Stop after the first refuted property' },
    watch: {
      type: 'boolean',
      summary: 'Prove again when the module or a file that it imports changes',
    },
    explain: {
      type: 'string',
      value: 'PROPERTY',
      summary: 'Prove this property, and explain what it states and why it holds or fails',
    },
    'save-test': {
      type: 'string',
      value: 'FILE',
      summary: 'Write a test file with each refuted property; it passes when they are proved',
    },
    svg: { type: 'string', value: 'FILE', summary: 'Draw the first counterexample to this file' },
  },
  run: async (call) => {
    const { values, operands, cwd, env, stdout, stderr, clock } = call;
    const [file = ''] = operands;
    const limits: AgentProofLimits = {
      ...parseLimits(values),
      control: values.control,
      shutdowns: values.shutdowns,
      quiescentPlaces: values.rests,
    };
    const solver = parseSolver(values['solver-seconds']);
    const cache = openCache(call, values);
    assertWritable(cwd, '--save-test', values['save-test'], FIRST_WORDS);
    assertWritable(cwd, '--svg', values.svg, '<svg');
    if (values.watch) return watchProof(call, file);
    const subject = await loadProofSubject({ file, cwd, name: values.agent }, limits);
    const { net, bounds, components, brokenRules } = subject;
    if (values['save-test'] !== undefined && subject.source === undefined)
      throw new UsageError(
        `--save-test needs an agent or a net that ${file} exports. An ADK agent or a definition has no net that a test can import.`,
        'prove',
      );
    const moduleFile = resolve(cwd, file);
    const besideModule = join(dirname(moduleFile), 'refuted.test.ts');
    const toTestText = (results: ProofReport['results'], to: string): string | undefined => {
      const { source } = subject;
      if (source === undefined) return undefined;
      return toProofTestFile(results, { testFile: resolve(cwd, to), moduleFile, source });
    };
    const properties = selectProperties(subject, values);
    const paint = createPaint(stdout, env);
    const view = values.json
      ? new JsonProofView(stdout, subject.name, {
          clock: values.progress ? clock : undefined,
          toTest: (result) => toTestText([result], values['save-test'] ?? besideModule),
        })
      : new TextProofView(stdout, paint, clock);
    const report = await rethrowMisuse(async () => {
      const start = describeProof(net, bounds);
      checkNames(net, properties);
      if (values.explain !== undefined && !values.json)
        for (const property of properties)
          stdout.write(`${printable(explainProperty(property).join('\n'))}\n`);
      view.start(start);
      return untilInterrupted(call, (signal) =>
        prove(net, {
          properties,
          bounds,
          ...omitUndefined({ components, cache }),
          ...solver,
          signal,
          failFast: values['fail-fast'],
          onProgress: (progress) => view.progress(progress),
          onResult: (result) => {
            view.result(result);
            if (values.explain !== undefined && !values.json)
              stdout.write(`  ${explainVerdict(result)}\n`);
          },
        }),
      );
    });
    view.end(report, brokenRules);
    await saveFile(call, values.svg, drawFirstRefutation(report));
    if (values['save-test'] !== undefined) {
      const text = toTestText(report.results, values['save-test']);
      await saveFile({ cwd, stderr }, values['save-test'], text);
    }
    return isProved(report, { strict: values.strict }) && (brokenRules ?? []).length === 0
      ? EXIT_OK
      : EXIT_FAILURE;
  },
});

/** Runs a proof until it ends. The first Ctrl-C cancels it, and keeps what it knows; a second one ends the process. */
async function untilInterrupted<T>(
  { signals }: Pick<CliContext, 'signals'>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const cancel = (): void => {
    signals.off('SIGINT', cancel);
    controller.abort();
  };
  signals.on('SIGINT', cancel);
  try {
    return await work(controller.signal);
  } finally {
    signals.off('SIGINT', cancel);
  }
}

/** @throws UsageError for `--cache` with `--no-cache`. */
function openCache(
  context: Pick<CliContext, 'cwd' | 'env' | 'version'>,
  values: { readonly cache: string | undefined; readonly 'no-cache': boolean },
): ProofCache | undefined {
  if (values['no-cache']) {
    if (values.cache === undefined) return undefined;
    throw new UsageError('--cache and --no-cache exclude each other. Use one of them.', 'prove');
  }
  const folder =
    values.cache === undefined ? findProofCacheFolder(context) : resolve(context.cwd, values.cache);
  return folder === undefined ? undefined : createFileProofCache(folder);
}

/**
 * Protects files that this command has not written, such as the module itself.
 * @throws UsageError if the file exists and does not begin with `firstWords`.
 */
function assertWritable(
  cwd: string,
  option: string,
  file: string | undefined,
  firstWords: string,
): void {
  const path = resolve(cwd, file ?? '');
  if (file === undefined || !existsSync(path)) return;
  if (readFileSync(path, 'utf8').startsWith(firstWords)) return;
  throw new UsageError(
    `${option} would replace ${file}, which petrichor prove has not written. Name another file.`,
    'prove',
  );
}

/** Writes a file that a refutation gives; without one, the file is not written. */
async function saveFile(
  { cwd, stderr }: Pick<CliContext, 'cwd' | 'stderr'>,
  file: string | undefined,
  text: string | undefined,
): Promise<void> {
  if (file === undefined) return;
  if (text !== undefined) await writeFile(resolve(cwd, file), text);
  const message = text === undefined ? 'Nothing was refuted; did not write' : 'Wrote';
  stderr.write(`${message} ${file}.\n`);
}

function selectProperties(
  { properties }: ProofSubject,
  {
    property,
    explain,
  }: { readonly property: readonly string[]; readonly explain: string | undefined },
): readonly Property[] {
  const selected = new Set([...property, ...(explain === undefined ? [] : [explain])]);
  if (selected.size === 0) return Object.values(properties);
  return [...selected].map((text) => parseProperty(text, properties));
}

const numericOptions = [
  ['messages', 'messages', 0],
  ['at-once', 'atOnce', 1],
  ['faults', 'faults', 0],
  ['states', 'states', 1],
] as const;

function parseSolver(seconds: string | undefined): Pick<ProveOptions, 'route' | 'solverLimits'> {
  if (seconds === undefined) return {};
  const number = parseWholeNumber('solver-seconds', seconds, 0);
  return number === 0 ? { route: 'search' } : { solverLimits: { timeoutMs: number * 1000 } };
}

function parseLimits(
  values: Readonly<Partial<Record<(typeof numericOptions)[number][0], string | undefined>>>,
): AgentProofLimits {
  return Object.fromEntries(
    numericOptions.flatMap(([option, limit, least]) => {
      const value = values[option];
      if (value === undefined) return [];
      return [[limit, parseWholeNumber(option, value, least)]];
    }),
  );
}

function parseWholeNumber(option: string, value: string, least: number): number {
  const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (Number.isSafeInteger(number) && number >= least) return number;
  throw new UsageError(
    `--${option} must be a whole number from ${least}; it is "${value}".`,
    'prove',
  );
}

/** Turns an unknown name or an impossible count in the options into a usage error. */
async function rethrowMisuse<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UnknownNameError || error instanceof InvalidPropertyError)
      throw new UsageError(error.message, 'prove');
    throw error;
  }
}
