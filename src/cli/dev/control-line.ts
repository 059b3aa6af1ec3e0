import { isJsonObject } from '../../core/index.ts';

/** What the process of a server tells `petrichor dev`, as a line of its output. */
export type ControlLine =
  /** The file is loaded. The server waits for a line with the port, or an empty line for its own. */
  | { readonly dev: 'loaded' }
  | { readonly dev: 'listening'; readonly url: string; readonly port: number };

export function formatControlLine(line: ControlLine): string {
  return `${JSON.stringify(line)}\n`;
}

/** Undefined: the line is output for the person. */
export function parseControlLine(text: string): ControlLine | undefined {
  if (!text.startsWith('{"dev":')) return undefined;
  try {
    const line: unknown = JSON.parse(text);
    if (!isJsonObject(line)) return undefined;
    const { dev, url, port } = line;
    if (dev === 'loaded') return { dev };
    if (dev !== 'listening' || typeof url !== 'string' || typeof port !== 'number')
      return undefined;
    return { dev, url, port };
  } catch {
    return undefined;
  }
}
