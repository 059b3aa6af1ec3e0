import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { agentProof, checkInvariants, InvariantError } from '../agents/index.ts';
import type { Agent, AgentProofLimits } from '../agents/index.ts';
import {
  formatReport,
  InvalidPropertyError,
  isProved,
  prove,
  traceToSvg,
  UnknownNameError,
} from '../verify/index.ts';
import type { ProofReport, Property, ProveOptions } from '../verify/index.ts';
import { defineCommand, type Command } from './command.ts';
import { EXIT_FAILURE, EXIT_OK } from './exit-code.ts';
import { loadAgent } from './load-agent.ts';
import { paintFor, type Paint } from './paint.ts';
import { printable } from './printable.ts';
import { parseProperty, propertyForms } from './property-argument.ts';
import { agentOption } from './session-options.ts';
import { UsageError } from './usage-error.ts';

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
      ...numbersIn(values),
      shutdowns: values.shutdowns,
      resting: values.rests,
    };
    const solver = solverIn(values['solver-seconds']);
    const agent = await loadAgent({ file, cwd, name: values.agent });
    const report = await misuseSaid(async () => {
      const { properties: known, bounds } = agentProof(agent, limits);
      const properties =
        values.property.length === 0
          ? Object.values(known)
          : values.property.map((text) => parseProperty(text, known));
      return prove(agent.compiled, { properties, bounds, ...solver });
    });
    const broken = brokenRules(agent);
    stdout.write(
      values.json
        ? reportJson(agent.name, report, broken)
        : reportText(report, broken, paintFor(stdout, env)),
    );
    if (values.svg !== undefined) {
      const drawn = drawingOf(report);
      if (drawn !== undefined) await writeFile(resolve(cwd, values.svg), drawn);
      const said = drawn === undefined ? 'Nothing was refuted: no' : 'Wrote';
      stderr.write(`${said} ${values.svg}.\n`);
    }
    return isProved(report) && broken.length === 0 ? EXIT_OK : EXIT_FAILURE;
  },
});

const counts = [
  ['messages', 'messages', 0],
  ['at-once', 'atOnce', 1],
  ['faults', 'faults', 0],
  ['states', 'states', 1],
] as const;

function solverIn(seconds: string | undefined): Pick<ProveOptions, 'route' | 'solverLimits'> {
  if (seconds === undefined) return {};
  const number = wholeNumber('solver-seconds', seconds, 0);
  return number === 0 ? { route: 'search' } : { solverLimits: { timeoutMs: number * 1000 } };
}

function numbersIn(
  values: Readonly<Partial<Record<(typeof counts)[number][0], string | undefined>>>,
): AgentProofLimits {
  return Object.fromEntries(
    counts.flatMap(([option, limit, least]) => {
      const given = values[option];
      if (given === undefined) return [];
      return [[limit, wholeNumber(option, given, least)]];
    }),
  );
}

function wholeNumber(option: string, given: string, least: number): number {
  const number = /^\d+$/.test(given) ? Number(given) : Number.NaN;
  if (Number.isSafeInteger(number) && number >= least) return number;
  throw new UsageError(
    `--${option} must be a whole number from ${least}; it is "${given}".`,
    'prove',
  );
}

/** A name that the net has not, or a count that cannot be, was typed here. */
async function misuseSaid<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UnknownNameError || error instanceof InvalidPropertyError)
      throw new UsageError(error.message, 'prove');
    throw error;
  }
}

/** What the rules of agents say of the arcs of this one; empty when it keeps them. */
function brokenRules({ compiled }: Agent): readonly string[] {
  try {
    checkInvariants(compiled);
    return [];
  } catch (error) {
    if (error instanceof InvariantError) return error.problems;
    throw error;
  }
}

/** The first refutation as a picture; undefined when there is none. */
function drawingOf({ results }: ProofReport): string | undefined {
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
  return `${lines.map((line) => painted(line, paint)).join('\n')}\n`;
}

function painted(line: string, paint: Paint): string {
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
      ...named(property),
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

function named({ name, kind }: Property): { readonly name: string; readonly kind: string } {
  return { name, kind };
}
