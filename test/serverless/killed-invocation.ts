// An invocation that its platform ends during a call. Argument: the URL of the store.
import { invoke } from './invocation.ts';

const [, , url = ''] = process.argv;
await invoke({
  url,
  request: { session: 'killed', messageId: 'm1', message: 'look' },
  onLook: async () => {
    process.send?.('looks');
    return new Promise<never>(() => {
      setInterval(() => {}, 1000);
    });
  },
});
