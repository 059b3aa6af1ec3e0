import { createParser, type EventSourceMessage } from 'eventsource-parser';

/**
 * The events of a body in the format of server-sent events. An event that the end of the body cuts off is dropped.
 * `onActivity` is called for every chunk of bytes, also for a comment, so that the caller can detect a dead connection.
 */
export async function* readServerSentEvents(
  body: ReadableStream<Uint8Array>,
  onActivity: () => void = () => {},
): AsyncGenerator<EventSourceMessage, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event) });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onActivity();
      parser.feed(decoder.decode(value, { stream: true }));
      yield* events.splice(0);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
