/** A piece of a template: literal text, or a placeholder. */
export type TemplatePiece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'state' | 'artifact'; readonly name: string; readonly optional: boolean };

// The artifact service validates artifact names. Here a name is anything that one pair of braces can hold on a line.
const PLACEHOLDER = /\{(?:artifact\.([^{}\p{Cc}]+?)|([A-Za-z_][A-Za-z0-9_:.]*))(\??)\}/gu;
const STATE_NAME = /^(?:(?:app|user|temp):)?[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Parses the placeholders `{name}`, `{app:name}`, `{user:name}`, `{temp:name}` and `{artifact.name}`. A `?` before the
 * `}` marks an optional one. All other braces are literal text.
 */
export function parseTemplate(template: string): readonly TemplatePiece[] {
  const pieces: TemplatePiece[] = [];
  let end = 0;
  for (const match of template.matchAll(PLACEHOLDER)) {
    const [, artifact, name = '', mark] = match;
    const piece = placeholder(artifact, name, mark === '?');
    if (piece === undefined) continue;
    if (match.index > end) pieces.push({ kind: 'text', text: template.slice(end, match.index) });
    pieces.push(piece);
    end = match.index + match[0].length;
  }
  if (end < template.length) pieces.push({ kind: 'text', text: template.slice(end) });
  return pieces;
}

function placeholder(
  artifact: string | undefined,
  name: string,
  optional: boolean,
): TemplatePiece | undefined {
  if (artifact !== undefined) return { kind: 'artifact', name: artifact, optional };
  return STATE_NAME.test(name) ? { kind: 'state', name, optional } : undefined;
}
