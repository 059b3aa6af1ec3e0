// The texts of this file are those of Google's Agent Development Kit. See NOTICE.

import { isFunctionCallPart, isFunctionResponsePart, isTextPart } from '../../core/index.ts';
import type { Content, JsonObject, Part } from '../../core/index.ts';
import { appendInstruction } from '../contracts/model-middleware.ts';
import type { RequestTool, ToolRequestParams } from './compile-context.ts';

/** A message of a user and how the model answers it. */
export interface Example {
  readonly input: Content;
  readonly output: readonly Content[];
}

/** Chooses examples for a message of the user. */
export abstract class BaseExampleProvider {
  abstract getExamples(query: string): readonly Example[];
}

/** Adds examples to the instruction of each request whose message begins with a text. The words are those of ADK. */
export class ExampleTool implements RequestTool {
  readonly name = 'example_tool';
  readonly examples: readonly Example[] | BaseExampleProvider;

  constructor(examples: readonly Example[] | BaseExampleProvider) {
    this.examples = examples;
  }

  processLlmRequest({ toolContext, llmRequest, model }: ToolRequestParams): void {
    const [first] = toolContext.userContent?.parts ?? [];
    if (first === undefined || !isTextPart(first) || first.text === '') return;
    const { examples } = this;
    const chosen =
      examples instanceof BaseExampleProvider ? examples.getExamples(first.text) : examples;
    appendInstruction(llmRequest, formatExamples(chosen, model.includes('gemini-2')));
  }
}

function formatExamples(examples: readonly Example[], isGemini2: boolean): string {
  const shown = examples.map(
    ({ input, output }, index) =>
      `EXAMPLE ${index + 1}:\nBegin example\n[user]\n${joinTexts(input)}\n${formatOutput(output, isGemini2)}End example\n\n`,
  );
  return `<EXAMPLES>\nBegin few-shot\nThe following are examples of user queries and model responses using the available tools.\n\n${shown.join('')}End few-shot\n<EXAMPLES>`;
}

function formatOutput(output: readonly Content[], isGemini2: boolean): string {
  return output
    .map(({ role, parts }, index) => {
      const isSameSpeaker = (output[index - 1]?.role === 'model') === (role === 'model');
      const heading = index > 0 && isSameSpeaker ? '' : role === 'model' ? '[model]\n' : '[user]\n';
      return heading + parts.map((part) => formatPart(part, isGemini2)).join('');
    })
    .join('');
}

function formatPart(part: Part, isGemini2: boolean): string {
  if (isFunctionCallPart(part)) {
    const { name, args } = part.functionCall;
    return `\`\`\`${isGemini2 ? '' : 'tool_code'}\n${name}(${formatArgs(args)})\n\`\`\`\n`;
  }
  if (isFunctionResponsePart(part))
    return `\`\`\`${isGemini2 ? '' : 'tool_outputs'}\n${JSON.stringify(part.functionResponse)}\n\`\`\`\n`;
  return isTextPart(part) && part.text !== '' ? `${part.text}\n` : '';
}

function formatArgs(args: JsonObject): string {
  return Object.entries(args)
    .map(([name, value]) =>
      typeof value === 'string' ? `${name}='${value}'` : `${name}=${JSON.stringify(value)}`,
    )
    .join(', ');
}

function joinTexts({ parts }: Content): string {
  return parts.flatMap((part) => (isTextPart(part) ? [part.text] : [])).join('\n');
}
