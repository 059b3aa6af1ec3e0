import { omitUndefined } from '../../core/internal.ts';
import type { Json } from '../../core/index.ts';
import type { ArtifactPart } from '../artifacts/artifact-service.ts';
import { asText } from './as-text.ts';
import type { Tool } from '../tool/tool.ts';
import { tool } from '../tool/tool.ts';

/** The name of the tool that reads artifacts. */
export const LOAD_ARTIFACTS = 'load_artifacts';

/** How many characters of text one call returns, over all its files. */
const PAGE_CHARACTERS = 80_000;

/**
 * Creates the tool `load_artifacts`, which reads artifacts: text and images. Long texts are
 * returned in pages.
 */
export function loadArtifactsTool(): Tool {
  return tool({
    name: LOAD_ARTIFACTS,
    description:
      'Reads saved files by their names, the newest version of each. ' +
      `At most ${PAGE_CHARACTERS} characters of text come at once: read on from "next_offset".`,
    parameters: {
      type: 'object',
      properties: {
        artifact_names: { type: 'array', items: { type: 'string' }, description: 'Which files.' },
        offset: {
          type: 'integer',
          minimum: 0,
          description: 'Of texts: the number of characters to pass over. Default: 0.',
        },
      },
      required: ['artifact_names'],
    },
    readOnly: true,
    // The tool pages its texts itself, so a result must not be truncated as well.
    maxResultCharacters: 2 * PAGE_CHARACTERS,
    execute: async ({ artifact_names: wanted, offset = 0 }, { artifacts }) => {
      const names = Array.isArray(wanted) ? wanted.map(asText) : [];
      const page = { from: Number(offset), characters: Math.ceil(PAGE_CHARACTERS / names.length) };
      const loaded: Record<string, Json>[] = [];
      for (const name of names) {
        const part = await artifacts.load(name);
        const found = part === undefined ? { error: 'There is no such file.' } : toPage(part, page);
        loaded.push({ name, ...found });
      }
      return { artifacts: loaded };
    },
  });
}

function toPage(
  part: ArtifactPart,
  { from, characters }: { readonly from: number; readonly characters: number },
): Readonly<Record<string, Json>> {
  if (!('text' in part)) return { ...part };
  const { length } = part.text;
  if (from === 0 && length <= characters) return { ...part };
  // Do not end in the middle of a surrogate pair.
  const text = part.text.slice(from, from + characters).replace(/[\uD800-\uDBFF]$/, '');
  const next = from + text.length;
  return {
    text,
    offset: from,
    characters: length,
    ...omitUndefined({ next_offset: next < length ? next : undefined }),
  };
}
