import {
  isFunctionCallPart,
  isFunctionResponsePart,
  type Content,
  type FunctionCall,
  type FunctionResponse,
} from './content.ts';

/** A message, or an object with a message, such as an `Event` or a log event. */
export type ContentSource = Content | { readonly content?: Content };

/** Returns the tool calls of a message, in order. */
export function getFunctionCalls(source: ContentSource): readonly FunctionCall[] {
  return getParts(source)
    .filter(isFunctionCallPart)
    .map((part) => part.functionCall);
}

/** Returns the tool results of a message, in order. */
export function getFunctionResponses(source: ContentSource): readonly FunctionResponse[] {
  return getParts(source)
    .filter(isFunctionResponsePart)
    .map((part) => part.functionResponse);
}

function getParts(source: ContentSource): Content['parts'] {
  return ('parts' in source ? source : source.content)?.parts ?? [];
}
