import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { agentProof, checkInvariants, InvariantError } from '../../agents/index.ts';
import type { Agent, AgentProofLimits } from '../../agents/index.ts';
import { InvalidPropertyError, isProved, prove, UnknownNameError } from '../../verify/index.ts';
import type { ProveOptions } from '../../verify/index.ts';
import { formatForm, propertyForms } from '../../verify/internal.ts';
import { defineCommand, type Command } from '../command/command.ts';
import { EXIT_FAILURE, EXIT_OK } from '../command/exit-code.ts';
import { loadAgent } from '../loading/load-agent.ts';
import { createPaint } from '../terminal/paint.ts';
import { parseProperty } from '../loading/parse-property.ts';
import { agentOption } from '../command/shared-options.ts';
import { UsageError } from '../command/usage-error.ts';
import { drawFirstRefutation, reportText, reportJson } from './proof-output.ts';

/** The command that proves properties of an agent's net, or shows a counterexample. */
export const proveCommand: Command = defineCommand({
  name: 'prove',
  operands: ['AGENT_MODULE'],
  summary: 'Prove properties of the net of an agent',
  description: [
    'Explores every order of events, every declared outcome and every failure, within the bounds that the report',
    'names. Nothing runs: no model and no tool is called. A refuted property comes with a counterexample: the steps',
    'that lead to it and its markings. The rules that an agent keeps by its arcs alone are checked, too.',
    '',
    'Default properties: deadlockFree, oneTurn, reaskBudgetIsBounded, noFireAfterEndInvocation, and for several',
    'agents the bounds of their loops, steps and transfers. A property is one of these names, or a call:',
    ...propertyForms.map((form) => `  ${formatForm(form)}`),
    '',
    'Exits with 0 if everything is proved and no rule is broken, with 1 if something is refuted or unknown.',
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
    svg: { type: 'string', value: 'FILE', summary: 'Draw the first counterexample to this file' },
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
      const svg = drawFirstRefutation(report);
      if (svg !== undefined) await writeFile(resolve(cwd, values.svg), svg);
      const message = svg === undefined ? 'Nothing was refuted; did not write' : 'Wrote';
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

/** The rules of agents that the arcs of this one break. */
function findBrokenRules({ compiled }: Agent): readonly string[] {
  try {
    checkInvariants(compiled);
    return [];
  } catch (error) {
    if (error instanceof InvariantError) return error.problems;
    throw error;
  }
}
