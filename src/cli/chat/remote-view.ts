import type { ContentBlock, SessionEvent, StreamedEvent } from '../../client/index.ts';
import type { Json } from '../../core/index.ts';
import { jsonText, oneLine, printable } from '../terminal/printable.ts';
import type { Screen } from '../terminal/screen.ts';

type ToolUse = Extract<
  SessionEvent,
  { readonly type: 'agent.tool_use' | 'agent.mcp_tool_use' | 'agent.custom_tool_use' }
>;

/**
 * Shows the events of a session on a server: messages as they stream, a line for each call and each
 * result.
 */
export class RemoteView {
  readonly #screen: Screen;
  /** By message id: the text shown before the message was complete. */
  readonly #shownText = new Map<string, string>();
  readonly #isSentHere: (event: SessionEvent) => boolean;

  /** @param isSentHere true for an event that was typed here and is already on the screen */
  constructor(screen: Screen, isSentHere: (event: SessionEvent) => boolean) {
    this.#screen = screen;
    this.#isSentHere = isSentHere;
  }

  show(event: StreamedEvent): void {
    if (event.type === 'event_start') return;
    if (event.type === 'event_delta')
      return this.#showDelta(event.event_id, event.delta.content.text);
    if (!this.#isSentHere(event)) this.#event(event);
  }

  #showDelta(id: string, text: string): void {
    this.#shownText.set(id, (this.#shownText.get(id) ?? '') + text);
    this.#screen.writeWrapped(printable(text));
  }

  #event(event: SessionEvent): void {
    switch (event.type) {
      case 'user.message':
        return this.#screen.mark('cyan', '›', joinText(event.content));
      case 'agent.message':
        return this.#message(event.id, joinText(event.content));
      case 'agent.tool_use':
      case 'agent.mcp_tool_use':
      case 'agent.custom_tool_use':
        return this.#call(event);
      case 'agent.tool_result':
      case 'agent.mcp_tool_result':
      case 'user.tool_result':
      case 'user.custom_tool_result':
        return this.#result(joinText(event.content), event.is_error);
      case 'session.error':
        return this.#screen.mark('red', '✖', event.error.message);
      case 'session.status_terminated':
      case 'session.deleted':
        return this.#screen.mark('yellow', '■', 'The session is closed.');
      default:
        // Statuses, spans, and event types that this version does not know.
        return undefined;
    }
  }

  #message(id: string, text: string): void {
    const shown = this.#shownText.get(id) ?? '';
    this.#shownText.delete(id);
    const continues = shown !== '' && text.startsWith(shown);
    if (!continues) this.#screen.endLine();
    this.#screen.writeWrapped(printable(continues ? text.slice(shown.length) : text));
    this.#screen.endLine();
  }

  #call({ name, input }: ToolUse): void {
    const { paint } = this.#screen;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was parsed from JSON
    const args = jsonText(input as Json);
    this.#screen.line(
      `${paint('cyan', '●')} ${paint('bold', printable(name))} ${paint('dim', printable(args))}`,
    );
  }

  #result(text: string, isError: boolean): void {
    const shown = oneLine(text, this.#screen.width - 4);
    this.#screen.line(`  ${this.#screen.paint(isError ? 'yellow' : 'dim', `└ ${shown}`)}`);
  }
}

function joinText(content: readonly ContentBlock[]): string {
  return content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('');
}
