import { isJsonObject, isTextPart } from '../../core/index.ts';
import type { Event } from '../../core/index.ts';

/** Formats an event for `runDebug`. */
export function formatDebugLines(event: Event, verbose: boolean): readonly string[] {
  const { author, content, errorMessage, partial } = event;
  if (partial === true) return [];
  const text = (content?.parts ?? [])
    .filter(isTextPart)
    .map((part) => part.text)
    .join('');
  const textLines = text === '' ? [] : [`${author} > ${text}`];
  const errorLines = errorMessage === undefined ? [] : [`${author} ! ${errorMessage}`];
  const callLines = (content?.parts ?? []).flatMap((part) => {
    if ('functionCall' in part)
      return [
        `${author} [calls ${part.functionCall.name}(${JSON.stringify(part.functionCall.args)})]`,
      ];
    if ('functionResponse' in part && isJsonObject(part.functionResponse.response))
      return [
        `${author} [${part.functionResponse.name} returned ${JSON.stringify(part.functionResponse.response)}]`,
      ];
    return [];
  });
  return [...textLines, ...errorLines, ...(verbose ? callLines : [])];
}
