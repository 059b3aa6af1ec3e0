import {
  isFunctionCallPart,
  isFunctionResponsePart,
  type Content,
  type FunctionCall,
  type FunctionResponse,
} from './content.ts';

/** A message, or anything that carries one: an `Event`, a log event. */
export type ContentSource = Content | { readonly content?: Content };

/** The calls a model asks for in a message, in its order. */
export function getFunctionCalls(source: ContentSource): readonly FunctionCall[] {
  return getParts(source)
    .filter(isFunctionCallPart)
    .map((part) => part.functionCall);
}

/** The answers of tools in a message, in its order. */
export function getFunctionResponses(source: ContentSource): readonly FunctionResponse[] {
  return getParts(source)
    .filter(isFunctionResponsePart)
    .map((part) => part.functionResponse);
}

function getParts(source: ContentSource): Content['parts'] {
  return ('parts' in source ? source : source.content)?.parts ?? [];
}
