import { checkDefinition } from '../../core/internal.ts';
import {
  createEventActions,
  isFunctionCallPart,
  isFunctionResponsePart,
  contentText,
  optionTable,
} from '../../core/index.ts';
import type { Content, Event, OptionTable } from '../../core/index.ts';
import type { Model } from '../../models/index.ts';
import { BaseEventsSummarizer } from './base-events-summarizer.ts';

const PROMPT = `The following is a conversation between a user and one or more agents. Summarize it, so that the agents can continue from your summary instead. Keep decisions and their reasons, facts about the user and their wishes, tool results that may be needed again, and open questions. Be brief.`;

/** Precedes a summary in prompts, in the words of ADK. See NOTICE. */
const SUMMARY_TITLE = '[Previous Context Summary]:';

/** Options of `LlmEventsSummarizer`. */
export interface LlmEventsSummarizerOptions {
  readonly model: Model;
  /** Instruction placed before the conversation. Default: a built-in prompt. */
  readonly promptTemplate?: string;
}

/** The options of `LlmEventsSummarizer`. */
export const LLM_EVENTS_SUMMARIZER_OPTIONS: OptionTable = optionTable<LlmEventsSummarizerOptions>(
  'LlmEventsSummarizer',
  {
    model: true,
    promptTemplate: true,
  },
);

/** Uses a model to write the summary. */
export class LlmEventsSummarizer extends BaseEventsSummarizer {
  readonly #model: Model;
  readonly #prompt: string;

  constructor(options: LlmEventsSummarizerOptions) {
    if (new.target === LlmEventsSummarizer) checkDefinition(LLM_EVENTS_SUMMARIZER_OPTIONS, options);
    super();
    const { model, promptTemplate = PROMPT } = options;
    this.#model = model;
    this.#prompt = promptTemplate;
  }

  override async summarizeEvents({
    events,
    ...context
  }: {
    readonly events: readonly Event[];
    readonly signal: AbortSignal;
    readonly firingId: string;
    readonly attempt: number;
  }): Promise<Event | undefined> {
    const lines = events.flatMap(({ author, content }) =>
      content === undefined ? [] : formatLines(author, content),
    );
    const last = events.at(-1);
    if (lines.length === 0 || last === undefined) return undefined;
    const request = {
      instruction: this.#prompt,
      contents: [{ role: 'user' as const, parts: [{ text: lines.join('\n') }] }],
      tools: [],
    };
    const { content } = await this.#model.generate(request, {
      ...context,
      onDelta: () => undefined,
    });
    const text = contentText(content).trim();
    if (text === '') return undefined;
    return {
      id: last.id,
      timestamp: last.timestamp,
      invocationId: last.invocationId,
      author: 'user',
      content: { role: 'user', parts: [{ text: `${SUMMARY_TITLE}\n${text}` }] },
      actions: createEventActions(),
    };
  }
}

function formatLines(author: string, content: Content): readonly string[] {
  const text = contentText(content);
  const calls = content.parts.filter(isFunctionCallPart).map(({ functionCall: { name, args } }) => {
    return `${author} called ${name}(${JSON.stringify(args)})`;
  });
  const results = content.parts
    .filter(isFunctionResponsePart)
    .map(
      ({ functionResponse: { name, response } }) => `${name} returned ${JSON.stringify(response)}`,
    );
  return [...(text === '' ? [] : [`${author}: ${text}`]), ...calls, ...results];
}
