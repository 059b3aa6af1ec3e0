import type { SessionNet } from '../api/types.ts';
import { collapseSubnets } from './collapse.ts';
import { toDot } from './dot.ts';
import type { DrawOptions } from './dot.ts';
import type { NetLayout } from './read-layout.ts';
import { pickParts } from './story.ts';
import type { DrawnNet, NetParts } from './story.ts';

/** A part of a net with its positions. */
export interface Drawing {
  readonly net: DrawnNet;
  readonly layout: NetLayout;
}

interface Reply {
  readonly id: number;
  readonly layout?: NetLayout;
  readonly error?: string;
}

let worker: Worker | undefined;
let nextId = 1;
const waiting = new Map<number, (reply: Reply) => void>();
/** Drawings by the hash of the net and the chosen parts. */
const drawings = new Map<string, Promise<Drawing>>();

/** Lays out the chosen parts of a net. The same parts of the same net are laid out once. */
export async function layOut(
  net: SessionNet,
  parts: NetParts,
  {
    happened,
    collapsed = [],
    ...options
  }: DrawOptions & {
    readonly happened?: readonly string[];
    /** The subnets that are drawn as one node. Default: none. */
    readonly collapsed?: readonly string[];
  },
): Promise<Drawing> {
  const key = JSON.stringify([net.hash, net.name, parts, happened, collapsed, options]);
  const known = drawings.get(key);
  if (known !== undefined) return known;
  const drawn = collapseSubnets(pickParts(net, parts, new Set(happened)), new Set(collapsed));
  const drawing = request(toDot(drawn, options)).then((layout) => ({ net: drawn, layout }));
  drawings.set(key, drawing);
  drawing.catch(() => drawings.delete(key));
  return drawing;
}

async function request(dot: string): Promise<NetLayout> {
  worker ??= startWorker();
  const id = nextId++;
  const { promise, resolve } = Promise.withResolvers<Reply>();
  waiting.set(id, resolve);
  worker.postMessage({ id, dot });
  const { layout, error } = await promise;
  if (layout === undefined)
    throw new Error(`The net could not be laid out: ${error ?? 'no reply'}`);
  return layout;
}

function startWorker(): Worker {
  const started = new Worker(new URL('./layout-worker.ts', import.meta.url), { type: 'module' });
  started.addEventListener('message', ({ data }: MessageEvent<Reply>) => {
    waiting.get(data.id)?.(data);
    waiting.delete(data.id);
  });
  started.addEventListener('error', ({ message }) => {
    for (const [id, reply] of waiting) reply({ id, error: message });
    waiting.clear();
    worker = undefined;
  });
  return started;
}
