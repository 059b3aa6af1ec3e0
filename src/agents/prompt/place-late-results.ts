import { isFunctionCallPart, isFunctionResponsePart } from '../../core/index.ts';
import type { Content, FunctionResponse, FunctionResponsePart, Part } from '../../core/index.ts';

/**
 * Moves the results that came in messages of the user to the calls that they belong to. A result of a call that
 * `isHidden` is left out. Default: none.
 */
export type LateResultPlacer = (
  contents: readonly Content[],
  isHidden?: (callId: string) => boolean,
) => readonly Content[];

/**
 * Creates a function that places the later results of long-running tools as ADK does: the last result of a call replaces
 * the first one, because a model is shown one result of each call. If the last content is such a result, the contents
 * between the call and it are left out, so that the model continues where it made the call.
 *
 * The same message is replaced by the same object each time.
 */
export function createLateResultPlacer(): LateResultPlacer {
  const replaced = new WeakMap<Content, Content>();
  return (contents, isHidden = () => false) => {
    const late = new Map(contents.flatMap(listUserResults));
    if (late.size === 0) return contents;
    const called = new Set(
      contents.flatMap(({ parts }) =>
        parts.filter(isFunctionCallPart).map(({ functionCall }) => functionCall.id),
      ),
    );
    const placed = contents.flatMap((content): readonly Content[] => {
      if (content.role === 'model') return [content];
      const parts = content.parts.flatMap((part): readonly Part[] => {
        if (!isFunctionResponsePart(part)) return [part];
        const { functionResponse } = part;
        const isCalled = called.has(functionResponse.id);
        if (content.role === 'tool') return [late.get(functionResponse.id) ?? part];
        return isCalled || isHidden(functionResponse.id)
          ? []
          : [{ text: describeResult(functionResponse) }];
      });
      return parts.length === 0 ? [] : [replace(content, parts)];
    });
    const ids = new Set(listUserResults(contents.at(-1)).map(([id]) => id));
    const end = placed.findLastIndex(
      ({ role, parts }) => role === 'tool' && parts.some((part) => ids.has(readResultId(part))),
    );
    const rest = listUserResults(contents.at(-1)).length < (contents.at(-1)?.parts.length ?? 0);
    return end === -1 ? placed : [...placed.slice(0, end + 1), ...(rest ? placed.slice(-1) : [])];
  };

  function replace(content: Content, parts: readonly Part[]): Content {
    const known = replaced.get(content) ?? content;
    if (isSame(known.parts, parts)) return known;
    const changed = { ...content, parts };
    replaced.set(content, changed);
    return changed;
  }
}

/** The results in a message of the user, with the ids of their calls. */
function listUserResults(
  content: Content | undefined,
): readonly (readonly [id: string, part: FunctionResponsePart])[] {
  if (content?.role !== 'user') return [];
  return content.parts.filter(isFunctionResponsePart).map((part) => [readResultId(part), part]);
}

function readResultId(part: Part): string {
  return isFunctionResponsePart(part) ? part.functionResponse.id : '';
}

/** The text of a result whose call the model is not shown. */
function describeResult({ name, response }: FunctionResponse): string {
  return `The call of \`${name}\` has a new result: ${JSON.stringify(response)}`;
}

function isSame(a: readonly Part[], b: readonly Part[]): boolean {
  return a.length === b.length && a.every((part, index) => part === b[index]);
}
