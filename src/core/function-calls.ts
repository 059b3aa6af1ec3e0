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
export function functionCallsOf(source: ContentSource): readonly FunctionCall[] {
  return partsOf(source)
    .filter(isFunctionCallPart)
    .map((part) => part.functionCall);
}

/** The answers of tools in a message, in its order. */
export function functionResponsesOf(source: ContentSource): readonly FunctionResponse[] {
  return partsOf(source)
    .filter(isFunctionResponsePart)
    .map((part) => part.functionResponse);
}

function partsOf(source: ContentSource): Content['parts'] {
  return ('parts' in source ? source : source.content)?.parts ?? [];
}
