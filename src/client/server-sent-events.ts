/** One event of the format, as it was sent. */
export interface ServerSentEvent {
  /** Where to go on from; missing on what is not kept. */
  readonly id: string | undefined;
  readonly data: string;
}

/**
 * The frames of a body in the format of server-sent events. Comments are left out, and so is a frame that the end of
 * the body cuts short. `alive` is called for whatever comes, a comment too.
 */
export async function* readServerSentEvents(
  body: ReadableStream<Uint8Array>,
  onActivity: () => void = () => {},
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let id: string | undefined;
  let data: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onActivity();
      rest += decoder.decode(value, { stream: true });
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line === '') {
          if (data.length > 0) yield { id, data: data.join('\n') };
          id = undefined;
          data = [];
        } else if (line.startsWith('id:')) id = line.slice(3).trim();
        else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
