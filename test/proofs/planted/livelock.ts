import { allOf, compile, net, place, pure } from '../../../src/net/index.ts';
import type { CompiledNet } from '../../../src/net/index.ts';

const request = place('request', { environment: true });
const ping = place('ping');
const pong = place('pong');

/** Two transitions pass a token to each other, without an effect between them. */
export const planted: CompiledNet = compile(
  net('livelock', {
    transitions: [
      pure('serve', { take: { request }, give: allOf({ ping }), run: () => ({ ping: null }) }),
      pure('hit', { take: { ping }, give: allOf({ pong }), run: () => ({ pong: null }) }),
      pure('return', { take: { pong }, give: allOf({ ping }), run: () => ({ ping: null }) }),
    ],
  }),
);
