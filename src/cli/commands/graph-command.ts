import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { toDot, toSvg } from '../../net/index.ts';
import { defineCommand, type Command } from '../command/command.ts';
import { EXIT_OK } from '../command/exit-code.ts';
import { loadAgent } from '../loading/load-agent.ts';
import { agentOption } from '../command/shared-options.ts';
import { UsageError } from '../command/usage-error.ts';

const formats = ['svg', 'dot'] as const;
type Format = (typeof formats)[number];

/** The command that draws an agent's net. */
export const graphCommand: Command = defineCommand({
  name: 'graph',
  operands: ['AGENT_MODULE'],
  summary: 'Draw the net of an agent',
  description: [
    'Draws the net that runs: places, transitions, arcs, and a box around each subnet. DOT is text for Graphviz.',
    'SVG is an image, and needs the optional package @viz-js/viz.',
  ].join('\n'),
  options: {
    agent: agentOption,
    format: {
      type: 'string',
      value: 'svg|dot',
      summary: 'The format. Default: dot if FILE ends in .dot or .gv, else svg',
    },
    out: {
      type: 'string',
      value: 'FILE',
      summary: 'Write to this file instead of standard output',
    },
  },
  run: async ({ values, operands, cwd, stdout }) => {
    const [file = ''] = operands;
    const format = parseFormat(values.format, values.out);
    const agent = await loadAgent({ file, cwd, name: values.agent });
    const drawing = format === 'dot' ? toDot(agent.compiled) : await toSvg(agent.compiled);
    if (values.out !== undefined) await writeFile(resolve(cwd, values.out), drawing);
    const facts = { agent: agent.name, format, out: values.out ?? null };
    if (values.json)
      stdout.write(`${JSON.stringify(values.out === undefined ? { ...facts, drawing } : facts)}\n`);
    else
      stdout.write(values.out === undefined ? `${drawing.trimEnd()}\n` : `Wrote ${values.out}.\n`);
    return EXIT_OK;
  },
});

function parseFormat(option: string | undefined, out: string | undefined): Format {
  if (option === undefined)
    return out?.endsWith('.dot') === true || out?.endsWith('.gv') === true ? 'dot' : 'svg';
  const format = formats.find((one) => one === option);
  if (format !== undefined) return format;
  throw new UsageError(`--format must be svg or dot; it is "${option}".`, 'graph');
}
