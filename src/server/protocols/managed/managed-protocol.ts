import { agentRoutes } from '../../routes/agent-routes.ts';
import { environmentRoutes } from '../../routes/environment-routes.ts';
import { eventRoutes } from '../../routes/event-routes.ts';
import { importRoutes } from '../../routes/import-routes.ts';
import { inspectionRoutes } from '../../routes/inspection-routes.ts';
import { listingRoutes } from '../../routes/listing-routes.ts';
import { operatorRoutes } from '../../routes/operator-routes.ts';
import { proofRoutes } from '../../routes/proof-routes.ts';
import { sessionControlRoutes } from '../../routes/session-control-routes.ts';
import { sessionRoutes } from '../../routes/session-routes.ts';
import { threadRoutes } from '../../routes/thread-routes.ts';
import { scheduleRoutes } from '../../routes/schedule-routes.ts';
import { webhookRoutes } from '../../routes/webhook-routes.ts';
import { workRoutes } from '../../routes/work-routes.ts';
import type { Protocol } from '../protocol.ts';

/** The Managed Agents protocol, with the routes that Petrichor adds to it: all paths below `/v1`. */
export const managedProtocol: Protocol = {
  name: 'managed',
  routes: (context) => [
    ...agentRoutes(context),
    ...environmentRoutes(context),
    ...sessionRoutes(context),
    ...importRoutes(context),
    ...sessionControlRoutes(context),
    ...inspectionRoutes(context),
    ...eventRoutes(context),
    ...threadRoutes(context),
    ...workRoutes(context),
    ...scheduleRoutes(context),
    ...webhookRoutes(context),
    ...listingRoutes(context),
    ...proofRoutes(context),
    ...operatorRoutes(context),
  ],
};
