export const bareEventsExchange = 'bare.events';
export const bareEventsQueue = 'bare.events';
export const bareDeliveriesQueue = 'bare.deliveries';
