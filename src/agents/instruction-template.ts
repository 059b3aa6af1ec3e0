/** A piece of a template: words as they are, or something to be put in their place. */
export type TemplatePiece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'state' | 'artifact'; readonly name: string; readonly optional: boolean };

const PLACEHOLDER = /\{([A-Za-z_][A-Za-z0-9_:.]*)(\??)\}/g;
const STATE_NAME = /^(?:(?:app|user|temp):)?[A-Za-z_][A-Za-z0-9_]*$/;
const ARTIFACT_PREFIX = 'artifact.';

/**
 * Reads `{name}`, `{app:name}`, `{user:name}`, `{temp:name}` and `{artifact.name}`, each with a `?` before its `}` if it
 * may be missing. Every other brace is a brace.
 */
export function parseTemplate(template: string): readonly TemplatePiece[] {
  const pieces: TemplatePiece[] = [];
  let end = 0;
  for (const match of template.matchAll(PLACEHOLDER)) {
    const piece = placeholder(match[1] ?? '', match[2] === '?');
    if (piece === undefined) continue;
    if (match.index > end) pieces.push({ kind: 'text', text: template.slice(end, match.index) });
    pieces.push(piece);
    end = match.index + match[0].length;
  }
  if (end < template.length) pieces.push({ kind: 'text', text: template.slice(end) });
  return pieces;
}

function placeholder(name: string, optional: boolean): TemplatePiece | undefined {
  if (name.startsWith(ARTIFACT_PREFIX) && name.length > ARTIFACT_PREFIX.length) {
    return { kind: 'artifact', name: name.slice(ARTIFACT_PREFIX.length), optional };
  }
  return STATE_NAME.test(name) ? { kind: 'state', name, optional } : undefined;
}
