import type { UsageItem } from '../store-item.ts';
import type { UsageTotal } from '../store.ts';

/** @param total a total by all dimensions */
export function toUsageItem(
  appName: string,
  { agent = '', user = '', day = '', model = '', calls, tokens }: UsageTotal,
): UsageItem {
  return { type: 'usage', appName, userId: user, agent, day, model, calls, tokens };
}
