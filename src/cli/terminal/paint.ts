import { styleText } from 'node:util';
import type { CliContext, OutputStream } from '../command/cli-context.ts';

export type Style = 'bold' | 'cyan' | 'dim' | 'green' | 'italic' | 'red' | 'yellow';

/** Applies a style to a text, or returns it unchanged where styles are not supported. */
export type Paint = (style: Style, text: string) => string;

/**
 * Creates the painter of a stream: colors on a terminal, none in a file or a pipe. `NO_COLOR` and
 * `FORCE_COLOR` override that.
 */
export function createPaint(stream: OutputStream, env: CliContext['env']): Paint {
  if (!supportsColor(stream, env)) return (_style, text) => text;
  return (style, text) => styleText(style, text, { validateStream: false });
}

function supportsColor(stream: OutputStream, env: CliContext['env']): boolean {
  const { FORCE_COLOR: forced, NO_COLOR: disabled, TERM: terminal } = env;
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  if (disabled !== undefined && disabled !== '') return false;
  return stream.isTTY === true && terminal !== 'dumb';
}
