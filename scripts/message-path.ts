import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { instance } from '@viz-js/viz';

/** A call from one file of `src/` to another. */
export interface PathCall {
  readonly from: string;
  readonly to: string;
  /** The function that is called. */
  readonly name: string;
}

/** The calls on the way of a message from `session.send` to the model, in order. A process of its own traces them. */
export async function traceMessagePath(): Promise<readonly PathCall[]> {
  const program = fileURLToPath(new URL('trace-message.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', program]);
  return stdout
    .trim()
    .split('\n')
    .map((line) => {
      const [from = '', to = '', name = ''] = line.split(/ -> | /);
      return { from, to, name };
    });
}

/** The picture of the calls in docs/architecture.md. */
export const messagePathPicture = 'docs/nets/message-path.svg';

/** Draws the calls: a box per file, and a numbered arrow per call. */
export async function drawMessagePath(calls: readonly PathCall[]): Promise<string> {
  const edges = calls.map(({ from, to, name }, index) => ({
    tail: from,
    head: to,
    attributes: { label: ` ${index + 1} ${name.replace('#', '')} ` },
  }));
  const font = { fontname: 'Helvetica,Arial,sans-serif', fontsize: 11 };
  const viz = await instance();
  const svg = viz.renderString(
    {
      directed: true,
      graphAttributes: { rankdir: 'TB', nodesep: 0.4, ranksep: 0.35 },
      nodeAttributes: { ...font, shape: 'box', style: 'rounded' },
      edgeAttributes: { ...font, fontsize: 10 },
      edges,
    },
    { format: 'svg' },
  );
  return svg.slice(svg.indexOf('<svg'));
}
