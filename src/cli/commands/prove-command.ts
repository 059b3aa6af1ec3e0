import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { agentProof, checkInvariants, InvariantError } from '../../agents/index.ts';
import type { Agent, AgentProofLimits } from '../../agents/index.ts';
import {
  formatReport,
  InvalidPropertyError,
  isProved,
  prove,
  traceToSvg,
  UnknownNameError,
} from '../../verify/index.ts';
import type { ProofReport, Property, ProveOptions } from '../../verify/index.ts';
import { defineCommand, type Command } from '../command/command.ts';
import { EXIT_FAILURE, EXIT_OK } from '../command/exit-code.ts';
import { loadAgent } from '../loading/load-agent.ts';
import { createPaint, type Paint } from '../terminal/paint.ts';
import { printable } from '../terminal/printable.ts';
import { parseProperty, propertyForms } from '../loading/parse-property.ts';
import { agentOption } from '../command/shared-options.ts';
import { UsageError } from '../command/usage-error.ts';

/** The command that proves an agent's net, or shows how it breaks. */
export const proveCommand: Command = defineCommand({
  name: 'prove',
  operands: ['AGENT_MODULE'],
  summary: 'Prove that the net of an agent keeps its promises',
  description: [
    'Looks at every order of events, every declared outcome and every failure, within the bounds that the report',
    'names. Nothing runs: no model is asked, no tool called. What is refuted comes with the steps that lead there,',
    'and a drawing of the markings on the way. The rules that an agent keeps by its arcs alone are checked, too.',
    '',
    'Proved unless --property says what: deadlockFree, oneTurn, reaskBudgetIsBounded, noFireAfterEndInvocation, and of',
    'several agents what bounds their loops, steps and transfers. A property is one of these names, or a call:',
    ...propertyForms.map((form) => `  ${form}`),
    '',
    'Exits with 0 when everything was proved and no rule is broken, with 1 when something was refuted or is unknown.',
  ].join('\n'),
  options: {
    agent: agentOption,
    property: {
      type: 'string',
      multiple: true,
      value: 'PROPERTY',
      summary: 'Prove this, and nothing that is not named so',
    },
    rests: {
      type: 'string',
      multiple: true,
      value: 'PLACE',
      summary: "A place that may hold tokens at rest, besides the agent's own",
    },
    messages: { type: 'string', value: 'N', summary: 'Messages of the user; 1 unless given' },
    'at-once': {
      type: 'string',
      value: 'N',
      summary: 'Tool calls of an answer, and re-asks of a turn; 2 unless given',
    },
    faults: {
      type: 'string',
      value: 'N',
      summary: 'Transitions whose own logic fails; 1 unless given',
    },
    shutdowns: { type: 'boolean', summary: 'Also let the owner close at any time' },
    states: {
      type: 'string',
      value: 'N',
      summary: 'Give up after so many states; 1000000 unless given',
    },
    'solver-seconds': {
      type: 'string',
      value: 'N',
      summary: 'Ask a solver so long what the search gives up; 20 unless given, 0 for none',
    },
    svg: { type: 'string', value: 'FILE', summary: 'Draw the first refutation there' },
  },
  run: async ({ values, operands, cwd, env, stdout, stderr }) => {
    const [file = ''] = operands;
    const limits: AgentProofLimits = {
      ...parseLimits(values),
      shutdowns: values.shutdowns,
      quiescentPlaces: values.rests,
    };
    const solver = parseSolver(values['solver-seconds']);
    const agent = await loadAgent({ file, cwd, name: values.agent });
    const report = await rethrowMisuse(async () => {
      const { properties: known, bounds } = agentProof(agent, limits);
      const properties =
        values.property.length === 0
          ? Object.values(known)
          : values.property.map((text) => parseProperty(text, known));
      return prove(agent.compiled, { properties, bounds, ...solver });
    });
    const broken = findBrokenRules(agent);
    stdout.write(
      values.json
        ? reportJson(agent.name, report, broken)
        : reportText(report, broken, createPaint(stdout, env)),
    );
    if (values.svg !== undefined) {
      const drawn = drawFirstRefutation(report);
      if (drawn !== undefined) await writeFile(resolve(cwd, values.svg), drawn);
      const message = drawn === undefined ? 'Nothing was refuted: no' : 'Wrote';
      stderr.write(`${message} ${values.svg}.\n`);
    }
    return isProved(report) && broken.length === 0 ? EXIT_OK : EXIT_FAILURE;
  },
});

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

/** A name that the net has not, or a count that cannot be, was typed here. */
async function rethrowMisuse<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UnknownNameError || error instanceof InvalidPropertyError)
      throw new UsageError(error.message, 'prove');
    throw error;
  }
}

/** What the rules of agents say of the arcs of this one; empty when it keeps them. */
function findBrokenRules({ compiled }: Agent): readonly string[] {
  try {
    checkInvariants(compiled);
    return [];
  } catch (error) {
    if (error instanceof InvariantError) return error.problems;
    throw error;
  }
}

/** The first refutation as a picture; undefined when there is none. */
function drawFirstRefutation({ results }: ProofReport): string | undefined {
  const refuted = results.find(({ trace }) => trace !== undefined);
  if (refuted?.trace === undefined) return undefined;
  return traceToSvg(refuted.trace, `${refuted.property.name}: refuted`);
}

function reportText(report: ProofReport, broken: readonly string[], paint: Paint): string {
  const rules =
    broken.length === 0
      ? ['✔ rules of an agent: kept (by its arcs)']
      : ['✖ rules of an agent: broken (by its arcs)', ...broken.map((problem) => `  ${problem}`)];
  const lines = printable([formatReport(report), ...rules].join('\n')).split('\n');
  return `${lines.map((line) => paintReportLine(line, paint)).join('\n')}\n`;
}

function paintReportLine(line: string, paint: Paint): string {
  if (line.startsWith('✔')) return paint('green', line);
  if (line.startsWith('✖')) return paint('red', line);
  return line.startsWith('?') ? paint('yellow', line) : line;
}

function reportJson(
  agent: string,
  { results, ...facts }: ProofReport,
  broken: readonly string[],
): string {
  const lines = [
    ...results.map(({ property, ...result }) => ({
      type: 'property',
      ...toPropertyJson(property),
      ...result,
    })),
    { type: 'rules', kept: broken.length === 0, problems: broken },
    {
      type: 'report',
      agent,
      proved: isProved({ results, ...facts }) && broken.length === 0,
      ...facts,
    },
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

function toPropertyJson({ name, kind }: Property): {
  readonly name: string;
  readonly kind: string;
} {
  return { name, kind };
}
