// Made from the published document: `./waybell docs`. Not to be edited.
export interface paths {
    "/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Find this document */
        get: operations["getRoot"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/asyncapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The events that upstream publishes, as AsyncAPI 3.0 */
        get: operations["getAsyncApi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This document as a page */
        get: operations["getPage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs/{file}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                file: string;
            };
            cookie?: never;
        };
        /** What the page is made of */
        get: operations["getPageFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs/source-networks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The same as a page, for those who keep a firewall */
        get: operations["getSourceNetworksPage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This document */
        get: operations["getOpenApi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schemas/{file}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                file: string;
            };
            cookie?: never;
        };
        /** JSON Schemas of events and notifications */
        get: operations["getSchema"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/console-sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign in to the console by a link
         * @description The console does so: a link that an operator has made is exchanged for an access token, once.
         */
        post: operations["createConsoleSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credentials": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * See for which hosts there are credentials
         * @description Those of the client, by host, without anything that is secret.
         */
        get: operations["listCredentials"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credentials/{host}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of callback URLs, with its port where that is not 443: `receiver.example.com:8443`. */
                host: string;
            };
            cookie?: never;
        };
        /**
         * See what there is for a host
         * @description Without anything that is secret.
         */
        get: operations["getCredentials"];
        /**
         * Put in what callbacks to a host authenticate with
         * @description All of the client's callbacks to the host and port, from the next attempt on, those that wait included. What was there before is gone, kinds that are left out too: there is no way to change a part, so that a token that was stolen cannot point a secret elsewhere. It is encrypted, never shown again, and masked in the delivery log. With `oauth2` it answers once the token URL has, which takes 10 seconds at most, and says what came; the credentials are stored whatever that is. A client has credentials for at most 100 hosts.
         */
        put: operations["putCredentials"];
        post?: never;
        /**
         * Have callbacks to a host without credentials
         * @description From the next attempt on.
         */
        delete: operations["deleteCredentials"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find deliveries
         * @description Those of the client that fulfil every condition, newest first; with `status=exhausted`, `dropped` or both by when they were given up or dropped. A page may hold fewer than `limit`, even none, while `next` leads on: what is rare among very many has to be looked for.
         *
         *     With `after`, those that ended, delivered or not, in the order in which the log was told so: each end once, however late it came to the log, as it stands when it is asked for. One that is sent again by hand comes again. There is always a `next` to go on from, and `more` says whether it leads on at once. Bodies of a page have 2 MiB together at most, unless its first alone has more. As long as bodies are kept: then 410.
         */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deliveries/{guid}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description As `webhook-id`. */
                guid: string;
            };
            cookie?: never;
        };
        /**
         * See a delivery, its attempts and what was sent
         * @description One of the client, or of a listener of it.
         */
        get: operations["getDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deliveries/{guid}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description As `webhook-id`. */
                guid: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a delivery again
         * @description To the subscription that the client has to its action now; one that is switched off is switched on first. `webhook-id` and body stay, `X-Webhook-Attempt` goes on, and there are as many retries as for a new one. It counts for no deactivation.
         */
        post: operations["resendDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/listeners": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Listen without an address of your own
         * @description Subscribes a client of its own, beside that of the token, to these actions: its callbacks come over a stream, and are retried and logged as any. `./waybell listen` does all of this. It ends with `DELETE`, or when it has had no stream for a while; its signing secret stays for the next of its name.
         */
        post: operations["createListener"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/listeners/{guid}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Listen no longer
         * @description Ends its subscriptions.
         */
        delete: operations["endListener"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/listeners/{guid}/answers": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answer a callback */
        post: operations["answerRequest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/listeners/{guid}/requests": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        /**
         * Read the callbacks of a listener
         * @description Server-sent events, until the client closes the connection or the listener ends. Connect again where it is cut.
         */
        get: operations["streamRequests"];
        put?: never;
        /**
         * For deliverers: the callback URL of a listener
         * @description Answers as the program behind the listener does.
         */
        post: operations["callListener"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * See what happens now
         * @description Server-sent events, until the client closes the connection: each attempt, each event for the account that the client was not sent, and each notice of what became of a subscription, a second or two after it happened, in the order in which the log has them. What comes to the log more than 30 seconds after it happened may be missing, and so may what happens faster than 500 records a second, of which `skipped` tells: `/v1/deliveries` has it all. A stream ends when its token does not hold any more, when its reader falls too far behind, and when the process stops: connect again, with `Last-Event-ID`.
         */
        get: operations["streamLive"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/missed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * See what the client missed, action by action
         * @description Of the actions that the client was subscribed to at some time of the range, or is now: what was given up or dropped, and the events that nothing was sent of, as no subscription was on. What has arrived since, or is on its way, is not missed. `POST /v1/replays` with `"action": "*"`, the same times and `include_suppressed` sends what `exhausted`, `dropped` and `suppressed` count where `is_active` is true. The 10,000 oldest are counted, as many as one replay takes.
         */
        get: operations["getMissed"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/public/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List current subscriptions
         * @description The client's own, those that were switched off too.
         */
        get: operations["listShipperSubscriptions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/public/webhooks/{webhook_action}/subscribe": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhook_action: components["schemas"]["ShipperActionName"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Subscribe to an action
         * @description When subscribed already: replaces `callback_url` and `audit_field_set` and switches the subscription on; its guid and verification token stay.
         */
        post: operations["subscribeShipper"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/public/webhooks/{webhook_action}/unsubscribe": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhook_action: components["schemas"]["ShipperActionName"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Unsubscribe from an action
         * @description Without a body; an empty object is fine too.
         */
        post: operations["unsubscribeShipper"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/public/webhooks/action_types": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List actions
         * @description Deprecated actions are left out; those of a feature are there only where it is enabled for the account.
         */
        get: operations["listShipperActions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/replays": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * See what was asked to be replayed
         * @description The latest 100 of the client, newest first. How far one has come, `GET /v1/replays/{guid}` tells.
         */
        get: operations["listReplays"];
        put?: never;
        /**
         * Send all that the client missed
         * @description All of an action that was given up or dropped, whichever subscription of the client it was for, also of one that was ended since; with `include_suppressed` also what was never made, for want of a subscription. It is sent to the subscription that the client has to the action now. With `*`, which is any text, it is of several actions at one rate: those that the client has a subscription to that is on. With `dry_run` it is only counted, by reason. With `missed` it is what one subscription missed while it was off, from the moment it went off, suppressed or not; of several such requests one does it. Where there is nothing, `explanation` says what there is instead. One request takes the 10,000 oldest at most, and counts no further; the next one takes the rest. With `missed`, what is noted as missed then begins where the replay ends.
         */
        post: operations["createReplay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/replays/{guid}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        /** See how far a replay has come */
        get: operations["getReplay"];
        put?: never;
        post?: never;
        /**
         * Cancel a replay
         * @description What was not sent yet is not sent, but for what is just being handed over: 50 at most for each process of the delivery log. What was sent is not called back.
         */
        delete: operations["cancelReplay"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/signing-secrets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * See the signing secrets
         * @description Those of the client. The current one first, and for some time after a rotation the one before it.
         */
        get: operations["listSigningSecrets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/signing-secrets/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take a new signing secret
         * @description Notifications are signed with the new one and, for some time, with the one before it. Until that is over there is no other rotation, unless `force` ends the one before at once: then receivers that still check with it refuse what they get.
         */
        post: operations["rotateSigningSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/source-networks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** See from where callbacks come, and what a firewall has to let through */
        get: operations["getSourceNetworks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/statistics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * See how many deliveries arrived, hour by hour
         * @description Of the client, in the last 24 whole hours and the one that runs: every action that is subscribed now, or that there is something of. An attempt counts in the hour in which it ended, so that what was sent again counts again; tests by hand never count. What is known late of an hour that is over may be told hours later.
         */
        get: operations["getStatistics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * See all subscriptions, and why one is switched off, paused, stopped or suspended
         * @description The client's current ones, by action, with the guids that tests and replays ask for. Those that were switched off are among them; those that were ended are not.
         */
        get: operations["listSubscriptions"];
        /**
         * Have subscriptions to many actions
         * @description Each action is subscribed, or its subscription changed in place; nothing else is ended. The same request again changes nothing, so that a receiver can make it at each start. The answer has an entry for each action, by name.
         */
        put: operations["putSubscriptions"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscriptions/{guid}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        /**
         * See a subscription
         * @description One that the client has now, with its verification token.
         */
        get: operations["getSubscription"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change a subscription in place, or switch it on again
         * @description Its guid, verification token and history stay. Earlier failures no longer count. What it missed while it was off is noted as `missed`, with a count: `POST /v1/replays` with `missed` sends it. Another URL alone leaves one off that was switched off. A request that changes nothing does nothing.
         */
        patch: operations["changeSubscription"];
        trace?: never;
    };
    "/v1/subscriptions/{guid}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Have its deliveries wait
         * @description Until then, or until it is resumed, what is due waits, and counts for nothing; what grows too old expires. It stays active. Paused again, the new end counts.
         */
        post: operations["pauseSubscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscriptions/{guid}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End a pause
         * @description What waits is sent now. Fine where it is not paused, too.
         */
        post: operations["resumeSubscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscriptions/{guid}/test": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of a current subscription: `GET /v1/subscriptions` has it. */
                guid: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Try a subscription out
         * @description Sends the example of its action, signed as any other, with the header `X-Webhook-Test: true`, once, and answers with what the receiver said: also while it is switched off or paused, not while an operator has stopped it. One at a time for each subscription. It counts for no deactivation.
         */
        post: operations["testSubscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/timeline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * See everything about an order, a vehicle, an offer …
         * @description The events that the account was to hear of, newest first: what was sent to the client, what its receiver said, and what was not sent and why. Ask by any name of it, however it is spelled: a guid in an event's payload, the number of an order (`number`, `id`, `order_id`, `purchase_order_number`), a VIN, the `subject` of a CloudEvent, or the guid of the event itself. Proxies change what a path has, such as an encoded slash, and leave a query as it is: ask so where people choose the key.
         */
        get: operations["findTimeline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/timeline/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                key: string;
            };
            cookie?: never;
        };
        /**
         * See everything about an order, a vehicle, an offer …
         * @description The events that the account was to hear of, newest first: what was sent to the client, what its receiver said, and what was not sent and why. Ask by any name of it, however it is spelled: a guid in an event's payload, the number of an order (`number`, `id`, `order_id`, `purchase_order_number`), a VIN, the `subject` of a CloudEvent, or the guid of the event itself. With a key that has slashes, dots or `%`, ask `/v1/timeline?key=`.
         */
        get: operations["getTimeline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * See whose the access token is, and what it may do
         * @description Every access token that holds may ask, whatever its scopes.
         */
        get: operations["getToken"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/triggers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Have an example event sent to your own subscriptions
         * @description The example of the action, as if it happened now, is checked as the platform's events are and sent to the listeners of the client, or, where none runs or `everywhere` is set, to its own subscription, also while that is switched off or paused: signed and retried as any other, with the header `X-Webhook-Test: true`. It counts for no deactivation.
         */
        post: operations["trigger"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List actions
         * @description Deprecated actions are left out.
         */
        get: operations["listCarrierActions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhook_action}/subscriptions/": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhook_action: components["schemas"]["CarrierActionName"];
            };
            cookie?: never;
        };
        /**
         * Look at the subscription to an action
         * @description Shows whether it was switched off.
         */
        get: operations["listCarrierSubscriptions"];
        put?: never;
        /**
         * Subscribe to an action
         * @description When subscribed already, active or switched off: 409. DELETE the subscription first.
         */
        post: operations["subscribeCarrier"];
        /** Unsubscribe from an action */
        delete: operations["unsubscribeCarrier"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/action_types": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List actions, at their other address
         * @description Deprecated actions are left out; those of a feature are there only where it is enabled for the account.
         */
        get: operations["listShipperActionsUnprefixed"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        AskedReplay: {
            /**
             * @description Of which action; a pattern where that was asked for.
             * @example order.*
             */
            action: string;
            /** Format: date-time */
            cancelled_at: string | null;
            /** Format: uuid */
            guid: string;
            include_suppressed: boolean;
            per_second: number;
            /** Format: date-time */
            requested_at: string;
            /** @enum {unknown} */
            requested_by: "client" | "operator";
            /** Format: date-time */
            since: string;
            /** @description Deliveries that are sent. */
            total: number;
            /** Format: date-time */
            until: string;
        };
        Attempt: {
            /** @description The beginning of the answer's body, or of what came where that was no whole answer. Only where one delivery is asked for. */
            answer?: string;
            /**
             * Format: date-time
             * @description When it ended.
             * @example 2026-11-20T09:30:00.123Z
             */
            at: string;
            /** @description As `X-Webhook-Attempt`. */
            attempt: number;
            /** @description With `invalid_response`: why what came is no response of HTTP, in words. */
            broken_rule?: string;
            /**
             * @description Only where no event caused it.
             * @enum {unknown}
             */
            by_hand?: "resend" | "test";
            connect_ms?: number;
            /** @description With the next two: of the connection, where one was made for this attempt. */
            dns_ms?: number;
            /** @description From its start until the receiver had answered, or it was given up. */
            duration_ms?: number;
            /** @description Where no status came: what OpenSSL or the system said, such as `ERR_SSL_DH_KEY_TOO_SMALL`. */
            error?: string;
            /** @description From the start of the attempt until the status line. */
            first_byte_ms?: number;
            /** @description What the receiver answered. */
            http_status?: number;
            /** @description The address connected to. */
            ip?: string;
            /**
             * @description `failed`: another follows at `retry_at`. `exhausted`: it was the last one, the delivery is given up. `dropped`: no request was made.
             * @enum {unknown}
             */
            kind: "delivered" | "failed" | "exhausted" | "dropped";
            /** @description With `redirect`: where it leads; values in the query are `***`. */
            location?: string;
            /** @description What the reason says, for people. */
            meaning?: string;
            /**
             * @description Of those that failure-reasons.md lists.
             * @example response_timeout
             */
            reason?: string;
            /** @description What can be done about it, for people. */
            remedy?: string;
            /**
             * Format: date-time
             * @description When the next attempt is due.
             * @example 2026-11-20T09:30:00.123Z
             */
            retry_at?: string;
            tls_ms?: number;
            /** @description Where the request went, or was to go; values in the query are `***`. */
            url?: string;
            /**
             * @description Only where it waited before, and why. `full`: its endpoint answered, and took no more at once. `hung`: it did not answer. `busy`: it said that it was too much (429 or 503). `paused`: its client has paused the subscription. `stopped`: the operator has stopped the subscription, or its host. `egress`: Waybell's own network had no way out. `open`: a request of it was under way, and it is sent again if the process that made the request dies.
             * @enum {unknown}
             */
            waited?: "full" | "hung" | "busy" | "paused" | "stopped" | "egress" | "open";
        };
        CarrierAction: {
            action: components["schemas"]["CarrierActionName"];
            /** @description Completes the sentence "sent when …". */
            description: string;
        };
        /** @enum {string} */
        CarrierActionName: "order.created" | "order.assigned" | "order.updated" | "order.picked_up" | "order.delivered" | "order.cancelled" | "damage.created" | "damage.deleted";
        CarrierSubscribeRequest: {
            /**
             * Format: uri
             * @description Where notifications are sent: an absolute https URL (http too where the deployment allows it), without user info and fragment, whose host is not, and does not resolve only to, a private or reserved address.
             * @example https://receiver.example.com/waybell
             */
            callback_url: string;
        };
        CarrierSubscription: {
            action: components["schemas"]["CarrierActionName"];
            /** @example https://receiver.example.com/waybell */
            callback_url: string;
            /** @description False once it is ended or was switched off. */
            is_active: boolean;
            /**
             * @description Sent with every notification as `X-Service-Verification-Token`. Shown to tokens with `webhooks:write`.
             * @example 0hZ5cVtXn7Qm2bRk9sLwYp4uJf6aGdE1oTiHxC3vKqM
             */
            verification_token?: string;
        };
        /** @description Kinds that are not there are null. */
        Credentials: {
            basic: {
                username: string;
            } | null;
            certificate: {
                /** @description SHA-256. */
                fingerprint: string;
                issuer: string;
                /**
                 * Format: date-time
                 * @description Put in another before.
                 * @example 2026-11-20T09:30:00.123Z
                 */
                not_after: string;
                /**
                 * Format: date-time
                 * @example 2026-11-20T09:30:00.123Z
                 */
                not_before: string;
                subject: string;
            } | null;
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            changed_at: string;
            /** @description Their names. */
            headers: string[] | null;
            /** @example receiver.example.com */
            host: string;
            oauth2: {
                /** @description Only where one is asked for. */
                audience?: string;
                client_id: string;
                /** @description Only where one is asked for. */
                scope?: string;
                /** @enum {unknown} */
                secret_in: "header" | "body";
                /** @description Values in its query are `***`. */
                token_url: string;
            } | null;
            /** @description How many of the client's current subscriptions have their callbacks go there. */
            subscriptions: number;
            /** @description Only in the answer to a PUT of `oauth2`: whether the token URL gave a token, asked once. `not_tried`: nobody could ask. */
            token?: {
                /** @description Only with `failed`: what the token URL answered. */
                detail?: string;
                /** @enum {unknown} */
                status: "issued" | "failed" | "not_tried";
            };
        };
        Delivery: {
            action: string;
            /**
             * Format: date-time
             * @description When it was made.
             * @example 2026-11-20T09:30:00.123Z
             */
            at: string;
            attempts: components["schemas"]["Attempt"][];
            /** @description Only where its end switched the subscription off. */
            deactivation?: {
                /**
                 * Format: date-time
                 * @example 2026-11-20T09:30:00.123Z
                 */
                at: string;
                /** @enum {unknown} */
                rule: "exhausted" | "window";
            };
            /** Format: uuid */
            event_guid: string;
            /**
             * Format: uuid
             * @description As `webhook-id`.
             */
            guid: string;
            /** @description What it is about: order, vehicles, offer and so on, by each name. None where the log does not have its event any more. */
            keys: {
                /** @example 4711 */
                key: string;
                /**
                 * @example order_guid
                 * @example order_id
                 * @example vin
                 */
                kind: string;
            }[];
            /** @description What the reason says, for people. */
            meaning?: string;
            /**
             * Format: date-time
             * @description While it is retried.
             * @example 2026-11-20T09:30:00.123Z
             */
            next_attempt_at?: string;
            /**
             * @description Of those that failure-reasons.md lists.
             * @example response_timeout
             */
            reason?: string;
            /** @description What can be done about it, for people. */
            remedy?: string;
            /**
             * @description `waiting`: for its first attempt. `retrying`: the last attempt failed, another is due. `exhausted`: given up after the last. `dropped`: there was no subscription any more to send it to.
             * @enum {unknown}
             */
            status: "waiting" | "retrying" | "delivered" | "exhausted" | "dropped" | "rejected";
            /** Format: uuid */
            subscription_guid: string;
            /** @description Only while it waits in Postgres: nearly always for its endpoint (account, scheme, host, port and path). */
            waiting?: {
                /**
                 * Format: date-time
                 * @example 2026-11-20T09:30:00.123Z
                 */
                since: string;
                /**
                 * @description `full`: its endpoint answered, and took no more at once. `hung`: it did not answer. `busy`: it said that it was too much (429 or 503). `paused`: its client has paused the subscription. `stopped`: the operator has stopped the subscription, or its host. `egress`: Waybell's own network had no way out. `open`: a request of it was under way, and it is sent again if the process that made the request dies.
                 * @enum {unknown}
                 */
                why: "full" | "hung" | "busy" | "paused" | "stopped" | "egress" | "open";
            };
        };
        DeliveryDetail: {
            action: string;
            /**
             * Format: date-time
             * @description When it was made.
             * @example 2026-11-20T09:30:00.123Z
             */
            at: string;
            attempts: components["schemas"]["Attempt"][];
            /** @description The same request for a shell. Secrets are variables: `$VERIFICATION_TOKEN`, `$WEBHOOK_SIGNATURE`, `$QUERY_1` and so on for values in the query, `$CALLBACK_URL` where no request was made yet. What credentials for its host add is left out. Null without a body. */
            curl: string | null;
            /** @description Only where its end switched the subscription off. */
            deactivation?: {
                /**
                 * Format: date-time
                 * @example 2026-11-20T09:30:00.123Z
                 */
                at: string;
                /** @enum {unknown} */
                rule: "exhausted" | "window";
            };
            /** Format: uuid */
            event_guid: string;
            /**
             * Format: uuid
             * @description As `webhook-id`.
             */
            guid: string;
            /** @description What it is about: order, vehicles, offer and so on, by each name. None where the log does not have its event any more. */
            keys: {
                /** @example 4711 */
                key: string;
                /**
                 * @example order_guid
                 * @example order_id
                 * @example vin
                 */
                kind: string;
            }[];
            /** @description What the reason says, for people. */
            meaning?: string;
            /**
             * Format: date-time
             * @description While it is retried.
             * @example 2026-11-20T09:30:00.123Z
             */
            next_attempt_at?: string;
            /**
             * @description Of those that failure-reasons.md lists.
             * @example response_timeout
             */
            reason?: string;
            /** @description What can be done about it, for people. */
            remedy?: string;
            request: {
                /** @description To the byte, as UTF-8. */
                body: string | null;
                /**
                 * @description Why there is no body: nothing was sent so far, or its time is over or it was deleted since.
                 * @enum {unknown}
                 */
                body_state: "kept" | "not_sent" | "no_longer_kept";
                /** @description As of the last attempt, but for `User-Agent` and `traceparent`. The verification token and the signature are `***`. Headers of credentials for its host are left out. */
                headers: {
                    [key: string]: string;
                };
                /** @constant */
                method: "POST";
                /** @description Values in the query are `***`; null: no request was made yet. */
                url: string | null;
            };
            /**
             * @description `waiting`: for its first attempt. `retrying`: the last attempt failed, another is due. `exhausted`: given up after the last. `dropped`: there was no subscription any more to send it to.
             * @enum {unknown}
             */
            status: "waiting" | "retrying" | "delivered" | "exhausted" | "dropped" | "rejected";
            /** Format: uuid */
            subscription_guid: string;
            /** @description Only while it waits in Postgres: nearly always for its endpoint (account, scheme, host, port and path). */
            waiting?: {
                /**
                 * Format: date-time
                 * @example 2026-11-20T09:30:00.123Z
                 */
                since: string;
                /**
                 * @description `full`: its endpoint answered, and took no more at once. `hung`: it did not answer. `busy`: it said that it was too much (429 or 503). `paused`: its client has paused the subscription. `stopped`: the operator has stopped the subscription, or its host. `egress`: Waybell's own network had no way out. `open`: a request of it was under way, and it is sent again if the process that made the request dies.
                 * @enum {unknown}
                 */
                why: "full" | "hung" | "busy" | "paused" | "stopped" | "egress" | "open";
            };
        };
        ListedDelivery: {
            action: string;
            /**
             * Format: date-time
             * @description When it was made.
             * @example 2026-11-20T09:30:00.123Z
             */
            at: string;
            attempts: components["schemas"]["Attempt"][];
            /** @description Only with `include=body`: what was sent, to the byte, as UTF-8. */
            body?: string | null;
            /**
             * @description Beside `body`: why there is none, its time is over or it was deleted since.
             * @enum {unknown}
             */
            body_state?: "kept" | "no_longer_kept";
            /** @description Only where its end switched the subscription off. */
            deactivation?: {
                /**
                 * Format: date-time
                 * @example 2026-11-20T09:30:00.123Z
                 */
                at: string;
                /** @enum {unknown} */
                rule: "exhausted" | "window";
            };
            /**
             * Format: date-time
             * @description Only with `after`: when it ended, for the place that it has there.
             * @example 2026-11-20T09:30:00.123Z
             */
            ended_at?: string;
            /** Format: uuid */
            event_guid: string;
            /**
             * Format: uuid
             * @description As `webhook-id`.
             */
            guid: string;
            /** @description What it is about: order, vehicles, offer and so on, by each name. None where the log does not have its event any more. */
            keys: {
                /** @example 4711 */
                key: string;
                /**
                 * @example order_guid
                 * @example order_id
                 * @example vin
                 */
                kind: string;
            }[];
            /** @description What the reason says, for people. */
            meaning?: string;
            /**
             * Format: date-time
             * @description While it is retried.
             * @example 2026-11-20T09:30:00.123Z
             */
            next_attempt_at?: string;
            /**
             * @description Of those that failure-reasons.md lists.
             * @example response_timeout
             */
            reason?: string;
            /** @description What can be done about it, for people. */
            remedy?: string;
            /**
             * @description `waiting`: for its first attempt. `retrying`: the last attempt failed, another is due. `exhausted`: given up after the last. `dropped`: there was no subscription any more to send it to.
             * @enum {unknown}
             */
            status: "waiting" | "retrying" | "delivered" | "exhausted" | "dropped" | "rejected";
            /** Format: uuid */
            subscription_guid: string;
            /** @description Only while it waits in Postgres: nearly always for its endpoint (account, scheme, host, port and path). */
            waiting?: {
                /**
                 * Format: date-time
                 * @example 2026-11-20T09:30:00.123Z
                 */
                since: string;
                /**
                 * @description `full`: its endpoint answered, and took no more at once. `hung`: it did not answer. `busy`: it said that it was too much (429 or 503). `paused`: its client has paused the subscription. `stopped`: the operator has stopped the subscription, or its host. `egress`: Waybell's own network had no way out. `open`: a request of it was under way, and it is sent again if the process that made the request dies.
                 * @enum {unknown}
                 */
                why: "full" | "hung" | "busy" | "paused" | "stopped" | "egress" | "open";
            };
        };
        Listener: {
            actions: string[];
            /** @description So long a callback waits for its answer, unless its deliverer waits for less. */
            answer_limit_ms: number;
            /** Format: uuid */
            guid: string;
            /** @description So long it lives without its stream. */
            life_ms: number;
            /** @description Of its callbacks: not that of the client of the token. */
            signing_secret: string;
            /** @description As `X-Service-Verification-Token` in each of its callbacks. */
            verification_token: string;
        };
        ListenerRequest: {
            /** @description The bytes that were sent. */
            body: string;
            headers: {
                [key: string]: string;
            };
            id: string;
        };
        LiveAttempt: {
            action: string;
            attempt: components["schemas"]["Attempt"];
            /** @description Of the subscription as it is now, without its query. */
            callback_url?: string;
            /**
             * Format: uuid
             * @description As `webhook-id`.
             */
            delivery_guid: string;
            /** Format: uuid */
            event_guid: string;
            /** @description What it is about: order, vehicles, offer and so on, by each name. */
            keys: {
                /** @example 4711 */
                key: string;
                /**
                 * @example order_guid
                 * @example order_id
                 * @example vin
                 */
                kind: string;
            }[];
            /** Format: uuid */
            subscription_guid: string;
        };
        LiveNotice: {
            /** Format: uuid */
            account_guid: string;
            /** @description Null where deliveries of several subscriptions wait for one endpoint, and of a certificate. */
            action: string | null;
            /** Format: date-time */
            at: string;
            /** @description Without its query. */
            callback_url: string | null;
            client_id: string;
            /** @description How many deliveries failed since the notice before; how many wait, up to 1,000. */
            count: number | null;
            /**
             * Format: uuid
             * @description The delivery that caused it, or the last one that failed.
             */
            delivery_guid: string | null;
            /**
             * Format: date-time
             * @description Of `certificate.ending`: when it ends, or ended.
             */
            ends_at: string | null;
            /**
             * Format: uuid
             * @description Of the notice: one may come twice.
             */
            guid: string;
            /** @description Of `certificate.ending`: the host, and port, at which callbacks authenticate by the certificate. */
            host: string | null;
            /** @enum {string} */
            interface: "shipper" | "carrier";
            /** @enum {string} */
            kind: "subscription.switched_off" | "subscription.switched_on" | "subscription.ended" | "subscription.held" | "delivery.exhausted" | "endpoint.waiting" | "certificate.ending";
            /** @description What the subscription missed while it was off, for a replay of `missed`. `count` is what the delivery log knows at that time, up to 1,000 of each kind; 0 as it goes off. */
            missed: {
                /** @description Null where it was not counted. */
                count: number | null;
                /** Format: date-time */
                since: string;
                /**
                 * Format: date-time
                 * @description Null while it is off.
                 */
                until: string | null;
            } | null;
            /** @description Of `switched_off` and `held` the rule, `exhausted` or `window`; of `switched_on` `switched_on`, or `held_back` where so many went off at once that the fault may be ours; of `ended` `unsubscribed`, `gone`, or `closed` with its account; of `delivery.exhausted` why the last one failed; of `endpoint.waiting` why most wait. */
            reason: string | null;
            /**
             * Format: date-time
             * @description Of `switched_off` and `held` when it began to fail; of `switched_on` when it had gone off; of `delivery.exhausted` when the first of those told failed; of `endpoint.waiting` since when the first waits.
             */
            since: string | null;
            /** @description What the receiver answered last, if it did. */
            status: number | null;
            /**
             * Format: uuid
             * @description Null where `action` is.
             */
            subscription_guid: string | null;
        };
        LiveSkipped: {
            /**
             * Format: date-time
             * @description More happened from this time on than the feed carries: some of it is left out.
             * @example 2026-11-20T09:30:00.123Z
             */
            since: string;
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            until: string;
        };
        LiveSuppressed: {
            action: string;
            /**
             * Format: date-time
             * @description When it was looked at.
             * @example 2026-11-20T09:30:00.123Z
             */
            at: string;
            /**
             * @description Only with `no_subscription`: how it came about that there was none.
             * @enum {unknown}
             */
            cause?: "unknown_account" | "never_subscribed" | "switched_off" | "ended" | "subscribed_later";
            /**
             * Format: date-time
             * @description Since when it was switched off, when it had ended, or when it was made.
             * @example 2026-11-20T09:30:00.123Z
             */
            cause_at?: string;
            /** Format: uuid */
            event_guid: string;
            /** @description What it is about: order, vehicles, offer and so on, by each name. */
            keys: {
                /** @example 4711 */
                key: string;
                /**
                 * @example order_guid
                 * @example order_id
                 * @example vin
                 */
                kind: string;
            }[];
            /** @constant */
            kind: "suppressed";
            /** @description What the reason says, for people. */
            meaning: string;
            /**
             * @description Of those that failure-reasons.md lists.
             * @example response_timeout
             */
            reason: string;
            /** @description What can be done about it, for people. */
            remedy: string;
            /**
             * @description Which rule switched it off.
             * @enum {unknown}
             */
            rule?: "exhausted" | "window";
            /**
             * Format: uuid
             * @description Which one it was that got nothing, was off, had ended, or came later.
             */
            subscription_guid?: string;
        };
        Missed: {
            /**
             * Format: date-time
             * @description Null: all of it is counted. Else there is more from then on: ask again with that as `since`.
             * @example 2026-11-20T09:30:00.123Z
             */
            counted_until: string | null;
            /** @description By action; none that the client missed nothing of. */
            objects: components["schemas"]["MissedOfAction"][];
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            since: string;
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            until: string;
        };
        MissedOfAction: {
            action: string;
            /** @description Deliveries that ended without an attempt to its end. */
            dropped: number;
            /** @description Deliveries that were given up, as every attempt failed. */
            exhausted: number;
            /** @description Others, of all three kinds, whose body is no longer kept: they cannot be sent. */
            gone: number;
            /** @description False: it is switched off, or there is none, so that nothing can be replayed to it. */
            is_active: boolean;
            /** @description Why they did not arrive, and of each how many: a reason of failure, or why there was no subscription. */
            reasons: {
                count: number;
                /**
                 * @example response_timeout
                 * @example switched_off
                 */
                reason: string;
            }[];
            /**
             * Format: uuid
             * @description The one that the client has to it now, which a replay goes to; null: none.
             */
            subscription_guid: string | null;
            /** @description Events that no delivery was made of, as no subscription was on. */
            suppressed: number;
        };
        OwnToken: {
            /** Format: uuid */
            account_guid: string;
            /**
             * @description What people call it.
             * @example Acme
             */
            account_name: string | null;
            /** @example default */
            client_id: string;
            /** @description Those that are enabled for the account. */
            features: ("insurance" | "servicepay")[];
            /** @enum {unknown} */
            interface: "shipper" | "carrier";
            scopes: ("webhooks:read" | "webhooks:write" | "admin")[];
        };
        /** @description An error, as RFC 9457 says. Tell kinds apart by `type`; texts may change. */
        Problem: {
            /** @description What is wrong with this request, for people. */
            detail: string;
            /** @description With 422: every rule that the body, or the parameters, break. */
            errors?: {
                detail: string;
                /** @description Which parameter of the path or the query. */
                parameter?: string;
                /** @description Where in the body, a JSON Pointer as a URI fragment. */
                pointer?: string;
            }[];
            /**
             * Format: uuid
             * @description The id of the request: name it when you ask for help.
             */
            instance: string;
            status: number;
            title: string;
            /** Format: uri */
            type: string;
        };
        PutSubscription: {
            action: string;
            problem?: components["schemas"]["Problem"];
            /**
             * @description `unchanged`: it was so before. `refused`: `problem` says why.
             * @enum {unknown}
             */
            result: "created" | "changed" | "unchanged" | "refused";
            subscription?: components["schemas"]["Subscription"];
        };
        Replay: {
            /**
             * @description Of which action; a pattern where that was asked for.
             * @example order.*
             */
            action: string;
            /** Format: date-time */
            cancelled_at: string | null;
            /** @description Of these, delivered by now. */
            delivered: number;
            /** @description Where there is nothing to send: what there is instead, for people. */
            explanation?: string;
            /** Format: uuid */
            guid: string;
            include_suppressed: boolean;
            per_second: number;
            /** @description Of these, handed out to be attempted. */
            published: number;
            /** Format: date-time */
            requested_at: string;
            /** @enum {unknown} */
            requested_by: "client" | "operator";
            /** Format: date-time */
            since: string;
            /** @description Deliveries that are sent. */
            total: number;
            /** Format: date-time */
            until: string;
        };
        ReplayCount: {
            /** @description Where there is nothing to send: what there is instead, for people. */
            explanation?: string;
            /** @description Why they did not arrive, and of each how many: a reason of failure, or why there was no subscription. */
            reasons: {
                count: number;
                /**
                 * @example response_timeout
                 * @example switched_off
                 */
                reason: string;
            }[];
            total: number;
        };
        Resend: {
            /** @description The attempt it goes on with. */
            attempt: number;
            /** Format: uuid */
            delivery_guid: string;
            /**
             * @description Only where the subscription is paused, or stopped by an operator: it waits until that is over.
             * @enum {unknown}
             */
            held?: "paused" | "stopped";
            /**
             * Format: uuid
             * @description To which it goes.
             */
            subscription_guid: string;
        };
        ShipperAction: {
            action: components["schemas"]["ShipperActionName"];
            /** @description The names that `audit_field_set` may hold; absent where the action has no revision form. */
            audit_fields?: string[];
            /** @description Completes the sentence "sent when …". */
            description: string;
        };
        /** @enum {string} */
        ShipperActionName: "order.created" | "order.modified" | "vehicle.created" | "vehicle.modified" | "vehicle.deleted" | "order.cancel" | "order.submitted_by_customer" | "order.picked_up" | "order.picked_up.ignored" | "order.delivered" | "order.delivered.ignored" | "order.picked_up_bol" | "order.delivered_bol" | "order.paid" | "order.unmark_as_paid" | "order.customer_paid" | "order.invoiced" | "order.customer_invoiced" | "order.archived" | "order.unarchived" | "order.marked_as_on_hold" | "order.unmarked_as_on_hold" | "order.marked_as_delivery_verified" | "order.unmarked_as_delivery_verified" | "order.posted_to_slb" | "order.removed_from_slb" | "order.booked" | "order.manually_marked_as_new" | "order.manually_marked_as_pending" | "order.manually_marked_as_accepted" | "order.manually_marked_as_invoiced" | "order.manually_unmarked_as_invoiced" | "order.manually_marked_as_picked_up" | "order.manually_marked_as_delivered" | "order.rolled_back_manual_status_change" | "order.removed" | "order.restored" | "offer.sent" | "offer.sent.failed" | "offer.accepted" | "offer.accepted.ignored" | "offer.updated_to_accepted" | "offer.updated_to_accepted.ignored" | "offer.declined" | "offer.declined.ignored" | "offer.canceled" | "offer.canceled_by_carrier" | "offer.canceled_by_carrier.ignored" | "load_request.created" | "load_request.updated" | "load_request.canceled_by_carrier" | "load_request.declined_by_shipper" | "vehicle.pickup_eta_updated_by_driver" | "vehicle.delivery_eta_updated_by_driver" | "vehicle.driver_location_updated" | "vehicle.gps_activated" | "vehicle.gps_deactivated" | "escalation.submitted" | "escalation.resolved" | "order.cancelled_by_customer" | "insurance.issued" | "insurance.canceled" | "servicepay_settings.updated" | "servicepay.updated";
        ShipperSubscribeRequest: {
            /** @description Only for the revision actions. Given, even empty, notifications carry old and new values of these fields; omitted, they have the plain form. On other actions an empty one, or null, counts as omitted. */
            audit_field_set?: ((unknown[] | unknown | unknown) | null) | unknown | unknown;
            /**
             * Format: uri
             * @description Where notifications are sent: an absolute https URL (http too where the deployment allows it), without user info and fragment, whose host is not, and does not resolve only to, a private or reserved address.
             * @example https://receiver.example.com/waybell
             */
            callback_url: string;
        };
        ShipperSubscription: {
            action: components["schemas"]["ShipperActionName"];
            /** @description As subscribed with; absent where it was omitted. */
            audit_field_set?: unknown[] | unknown | unknown;
            /** @example https://receiver.example.com/waybell */
            callback_url: string;
            /** @example 2026-11-20T09:30:00.123+0000 */
            changed_at: string;
            /** @example 2026-11-20T09:30:00.123+0000 */
            created_at: string;
            /** Format: uuid */
            guid: string;
            /** @description False once it is ended or was switched off. */
            is_active: boolean;
            /**
             * @description Sent with every notification as `X-Service-Verification-Token`. Shown to tokens with `webhooks:write`.
             * @example 0hZ5cVtXn7Qm2bRk9sLwYp4uJf6aGdE1oTiHxC3vKqM
             */
            verification_token?: string;
        };
        SourceNetworks: {
            /** @description What clients may put in for a host that asks for it. */
            authentication: ("headers" | "basic" | "oauth2" | "certificate")[];
            /** @description Ports, and ranges of ports, that callbacks never go to. The usual one is 443. */
            denied_ports: string[];
            /** @constant */
            follows_redirects: false;
            /** @description Headers of a callback, in lower case; some are on some alone. */
            headers: string[];
            /** @description No body of a callback has more. */
            largest_body_bytes: number;
            /**
             * @description The oldest version of TLS that is spoken.
             * @example 1.2
             */
            least_tls: string;
            /** @description Of requests to receivers, for each interface served. */
            limits: {
                carrier?: {
                    /** @description From the start until connected and handed over; null: as for the status line. */
                    handover_ms: number | null;
                    /** @description From the start until the status line. */
                    response_ms: number;
                };
                shipper?: {
                    /** @description From the start until connected and handed over; null: as for the status line. */
                    handover_ms: number | null;
                    /** @description From the start until the status line. */
                    response_ms: number;
                };
            };
            /** @constant */
            method: "POST";
            /** @description Addresses from which callbacks come, in CIDR form. Null: the operator tells none, ask. */
            networks: string[] | null;
            /** @description Of callback URLs. */
            schemes: ("https" | "http")[];
            signature: {
                /** @example HMAC-SHA256 */
                algorithm: string;
                /** Format: uri */
                standard: string;
                /** @example v1 */
                version: string;
            };
            /**
             * @description Its number changes with each version.
             * @example Waybell/0.3.0
             */
            user_agent: string;
        };
        Statistics: {
            /** @constant */
            bucket_seconds: 3600;
            /** @description By action. */
            objects: components["schemas"]["StatisticsOfAction"][];
            /**
             * Format: date-time
             * @description The beginning of the first hour.
             * @example 2026-11-20T09:30:00.123Z
             */
            since: string;
            /**
             * Format: date-time
             * @description When it was asked for.
             * @example 2026-11-20T09:30:00.123Z
             */
            until: string;
        };
        StatisticsOfAction: {
            action: string;
            /** @description Every hour, the first one first. */
            buckets: {
                /**
                 * Format: date-time
                 * @description When the hour begins.
                 * @example 2026-11-20T09:30:00.123Z
                 */
                at: string;
                /** @description Attempts that arrived. */
                delivered: number;
                /** @description Deliveries that were given up (`exhausted`) or dropped. */
                given_up: number;
                /** @description Attempts that failed, after which another follows. */
                retried: number;
                /** @description Events for the account that were not sent to the client. */
                suppressed: number;
            }[];
        };
        Subscription: {
            action: string;
            /** @description Absent where its notifications have the plain form. */
            audit_field_set?: string[];
            /** @example https://receiver.example.com/waybell */
            callback_url: string;
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            changed_at: string;
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            created_at: string;
            /** @description Only where it was switched off: when, and by which rule. */
            deactivation?: {
                /**
                 * Format: date-time
                 * @example 2026-11-20T09:30:00.123Z
                 */
                at: string;
                /**
                 * @description `exhausted`: a delivery was given up. `window`: every delivery of the last 24 hours, or of what the operator has set, failed.
                 * @enum {unknown}
                 */
                rule: "exhausted" | "window";
            };
            /** Format: uuid */
            guid: string;
            /** @description False once it was switched off. */
            is_active: boolean;
            /** @description Only where it was off and is on again, and lacks something of that time: until a replay of what was `missed` is asked for, and again where the delivery log gets something of that time later. For a minute after that the count may be 0. */
            missed?: {
                /** @description As many as one replay takes, at most. Left out in the answer of `PUT /v1/subscriptions`. */
                count?: number;
                /**
                 * Format: date-time
                 * @example 2026-11-20T09:30:00.123Z
                 */
                since: string;
                /**
                 * Format: date-time
                 * @example 2026-11-20T09:30:00.123Z
                 */
                until: string;
            };
            /**
             * Format: date-time
             * @description Only while it is paused: what is due waits until then.
             * @example 2026-11-20T09:30:00.123Z
             */
            paused_until?: string;
            /** @description Only while an operator has its deliveries wait, or those to its host. Only an operator starts it again. */
            stopped?: {
                /**
                 * Format: date-time
                 * @example 2026-11-20T09:30:00.123Z
                 */
                at: string;
                reason: string;
            };
            /** @description Only while the account lacks a feature that the action needs: nothing is sent, and the subscription stays. */
            suspension?: {
                /** @enum {unknown} */
                feature: "insurance" | "servicepay";
                /** @constant */
                reason: "feature_off";
            };
            /** @description Sent with every notification as `X-Service-Verification-Token`. Only to tokens with `webhooks:write`, and not in lists. */
            verification_token?: string;
        };
        TimelineEvent: {
            action: string;
            /**
             * Format: date-time
             * @description When it was looked at.
             * @example 2026-11-20T09:30:00.123Z
             */
            at: string;
            /** Format: uuid */
            event_guid: string;
            /** @description What it is about: order, vehicles, offer and so on, by each name. */
            keys: {
                /** @example 4711 */
                key: string;
                /**
                 * @example order_guid
                 * @example order_id
                 * @example vin
                 */
                kind: string;
            }[];
            verdicts: components["schemas"]["Verdict"][];
        };
        Trigger: {
            deliveries: {
                /**
                 * Format: uuid
                 * @description As `webhook-id`.
                 */
                delivery_guid: string;
                /** @description Whether it is of a listener of the client. */
                is_listener: boolean;
                /** Format: uuid */
                subscription_guid: string;
            }[];
            /** Format: uuid */
            event_guid: string;
            /** @description Subscriptions that get nothing of such an event. */
            suppressed: {
                /** @description Whether it is of a listener of the client. */
                is_listener: boolean;
                /** @example links_missing */
                reason: string;
                /** Format: uuid */
                subscription_guid: string;
            }[];
            /** @description Places that the contract does not know: notifications of most actions leave them out. */
            unknown_members: string[];
        };
        /** @description What an event came to: a delivery, or why there is none. */
        Verdict: {
            delivery: components["schemas"]["Delivery"];
            /** @constant */
            kind: "delivery";
        } | {
            /**
             * @description Only with `no_subscription`: how it came about that there was none.
             * @enum {unknown}
             */
            cause?: "unknown_account" | "never_subscribed" | "switched_off" | "ended" | "subscribed_later";
            /**
             * Format: date-time
             * @description Since when it was switched off, when it had ended, or when it was made.
             * @example 2026-11-20T09:30:00.123Z
             */
            cause_at?: string;
            /** @constant */
            kind: "suppressed";
            /** @description What the reason says, for people. */
            meaning: string;
            /**
             * @description Of those that failure-reasons.md lists.
             * @example response_timeout
             */
            reason: string;
            /** @description What can be done about it, for people. */
            remedy: string;
            /**
             * @description Which rule switched it off.
             * @enum {unknown}
             */
            rule?: "exhausted" | "window";
            /**
             * Format: uuid
             * @description Which one it was that got nothing, was off, had ended, or came later.
             */
            subscription_guid?: string;
        } | {
            /** @description What of the event broke which rule. */
            detail: string;
            /** @constant */
            kind: "rejected";
            /** @description What the reason says, for people. */
            meaning: string;
            /**
             * @description Of those that failure-reasons.md lists.
             * @example response_timeout
             */
            reason: string;
            /** @description What can be done about it, for people. */
            remedy: string;
        };
    };
    responses: {
        /** @description The headers are too large (`urn:waybell:problem:headers-too-large`). */
        HeadersTooLarge: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request is malformed (`urn:waybell:problem:malformed-request`). */
        MalformedRequest: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The method is not allowed here (`urn:waybell:problem:method-not-allowed`). */
        MethodNotAllowed: {
            headers: {
                allow: components["headers"]["Allow"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request did not end in time (`urn:waybell:problem:request-timeout`). */
        RequestTimeout: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is nothing here (`urn:waybell:problem:unknown-path`). */
        UnknownPath: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description The methods that the path has. */
        Allow: string;
        /** @description How long it may be kept. */
        CacheControl: string;
        /** @description Only where the action is deprecated: since when, as RFC 9745 says. */
        Deprecation: string;
        /** @description Changes with the document. */
        ETag: string;
        /** @description What is left of the requests of the token (`r`), and in how many seconds that ends (`t`). */
        RateLimit: string;
        /** @description How many requests a token has (`q`) in how many seconds (`w`). */
        RateLimitPolicy: string;
        /** @description Identifies the request; an error has it as `instance`. */
        RequestId: string;
        /** @description Seconds after which to ask again. */
        RetryAfter: string;
        /** @description Only where the action is deprecated: until when, as RFC 8594 says. */
        Sunset: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getRoot: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getAsyncApi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    "cache-control": components["headers"]["CacheControl"];
                    etag: components["headers"]["ETag"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
        };
    };
    getPage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    "cache-control": components["headers"]["CacheControl"];
                    etag: components["headers"]["ETag"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
        };
    };
    getPageFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                file: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    "cache-control": components["headers"]["CacheControl"];
                    etag: components["headers"]["ETag"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "text/css": string;
                    "text/javascript": string;
                };
            };
        };
    };
    getSourceNetworksPage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    "cache-control": components["headers"]["CacheControl"];
                    etag: components["headers"]["ETag"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
        };
    };
    getOpenApi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    "cache-control": components["headers"]["CacheControl"];
                    etag: components["headers"]["ETag"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
        };
    };
    getSchema: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                file: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    "cache-control": components["headers"]["CacheControl"];
                    etag: components["headers"]["ETag"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/schema+json": Record<string, never>;
                };
            };
        };
    };
    createConsoleSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description what follows `#link=` in the link: visible ASCII characters */
                    code: string;
                };
            };
        };
        responses: {
            /** @description The access token, shown this once. */
            201: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * Format: date-time
                         * @example 2026-11-20T09:30:00.123Z
                         */
                        expires_at: string;
                        token: string;
                    };
                };
            };
        };
    };
    listCredentials: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The credentials. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            objects: components["schemas"]["Credentials"][];
                        };
                        /** @constant */
                        status: "success";
                    } | {
                        objects: components["schemas"]["Credentials"][];
                    };
                };
            };
        };
    };
    getCredentials: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of callback URLs, with its port where that is not 443: `receiver.example.com:8443`. */
                host: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The credentials. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            object: components["schemas"]["Credentials"];
                        };
                        /** @constant */
                        status: "success";
                    } | components["schemas"]["Credentials"];
                };
            };
        };
    };
    putCredentials: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of callback URLs, with its port where that is not 443: `receiver.example.com:8443`. */
                host: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    basic?: {
                        /**
                         * Format: password
                         * @description a text of at most 1,024 characters without control characters
                         * @example p4ssw0rd
                         */
                        password: string;
                        /**
                         * @description a text of at most 1,024 characters without a colon and control characters
                         * @example waybell
                         */
                        username: string;
                    };
                    certificate?: {
                        /**
                         * @description In PEM: first the certificate of the key, then each that issued the one before, at most ten.
                         * @example -----BEGIN CERTIFICATE-----
                         *     MII…
                         *     -----END CERTIFICATE-----
                         */
                        chain: string;
                        /**
                         * Format: password
                         * @description In PEM, without a passphrase: RSA with 2,048 to 4,096 bits, P-256, P-384, P-521 or Ed25519.
                         * @example -----BEGIN PRIVATE KEY-----
                         *     MII…
                         *     -----END PRIVATE KEY-----
                         */
                        key: string;
                    };
                    /**
                     * @description Sent with each request, in names as they are written here: not those that callbacks have already (`webhook-…`, `X-Webhook-…`, `X-Service-Verification-Token`, `User-Agent`, `Content-…`, `traceparent`), nor those that are about the connection.
                     * @example {
                     *       "X-Api-Key": "p4ssw0rd"
                     *     }
                     */
                    headers?: {
                        [key: string]: string;
                    };
                    oauth2?: {
                        /**
                         * @description a text of 1 to 2,048 visible ASCII characters and blanks
                         * @example https://receiver.example.com
                         */
                        audience?: string;
                        /**
                         * @description a text of 1 to 2,048 visible ASCII characters and blanks
                         * @example waybell
                         */
                        client_id: string;
                        /**
                         * Format: password
                         * @description a text of 1 to 2,048 visible ASCII characters and blanks
                         * @example p4ssw0rd
                         */
                        client_secret: string;
                        /**
                         * @description scopes with one blank between them, at most 2,048 characters: visible ASCII without " and \
                         * @example notifications.write
                         */
                        scope?: string;
                        /**
                         * @description Where a token request has id and secret: in a header, as Basic, or in its body.
                         * @default header
                         * @enum {unknown}
                         */
                        secret_in?: "header" | "body";
                        /**
                         * Format: uri
                         * @description Where access tokens are asked for: by the rules for a `callback_url`.
                         * @example https://login.example.com/oauth2/token
                         */
                        token_url: string;
                    };
                };
            };
        };
        responses: {
            /** @description They are in the place of others. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            object: components["schemas"]["Credentials"];
                        };
                        /** @constant */
                        status: "success";
                    } | components["schemas"]["Credentials"];
                };
            };
            /** @description They are there. */
            201: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            object: components["schemas"]["Credentials"];
                        };
                        /** @constant */
                        status: "success";
                    } | components["schemas"]["Credentials"];
                };
            };
        };
    };
    deleteCredentials: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of callback URLs, with its port where that is not 443: `receiver.example.com:8443`. */
                host: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description There are none any more. */
            204: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                /** @description An action of the interface. */
                action?: components["schemas"]["ShipperActionName"] | components["schemas"]["CarrierActionName"];
                /** @description Reads the log on in its own order, for reconciling: `oldest`, a time (what is kept from then on), or the `next` of the page before. Beside it go `include`, `wait`, `limit`, `action`, `status` and `reason`. */
                after?: string;
                /** @description The `next` of the page before; what comes in meanwhile moves nothing. */
                cursor?: string;
                /** @description To subscriptions whose callbacks go there now: a host, also with its port, an origin, or a URL, of which the query does not count. */
                endpoint?: string;
                /** @description The guid of a delivery or of its event, or the first eight digits of it. */
                guid?: string;
                /** @description With `after`: what was sent, too. */
                include?: "body";
                /** @description What they are about, as for the timeline. */
                key?: string;
                /** @description The kind of the key, where several things have the same. One that no key has is refused, with the names of those that there are. */
                kind?: string;
                /** @description How many entries a page has at most. */
                limit?: number;
                /** @description Why they were given up or dropped; with `status=retrying`, why the last attempt failed. */
                reason?: "credentials_unavailable" | "dns" | "blocked_address" | "connect_refused" | "connect_timeout" | "unreachable" | "tls_name" | "tls_expired" | "tls_untrusted" | "tls_failed" | "tls_certificate_required" | "handover_timeout" | "response_timeout" | "reset" | "invalid_response" | "redirect" | "http_4xx" | "http_5xx" | "http_other" | "unknown" | "expired" | "parked_over_limit" | "unsubscribed" | "gone" | "closed" | "deactivated" | "feature_off" | "forgotten";
                /** @description Made at this time or later. */
                since?: string;
                /** @description How they stand: some of these, with commas between, such as `exhausted,dropped`. */
                status?: ("waiting" | "retrying" | "delivered" | "exhausted" | "dropped" | "rejected")[];
                /** @description To this subscription alone. */
                subscription?: string;
                /** @description Made before this time. */
                until?: string;
                /** @description With `after`: how long to wait for something new, where there is nothing. */
                wait?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deliveries. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            /** @description Only with `after`: whether there is more than this page already. */
                            more?: boolean;
                            /** @description The `cursor` of the next page; null: there is none. */
                            next: string | null;
                            objects: components["schemas"]["ListedDelivery"][];
                        };
                        /** @constant */
                        status: "success";
                    } | {
                        /** @description Only with `after`: whether there is more than this page already. */
                        more?: boolean;
                        /** @description The `cursor` of the next page; null: there is none. */
                        next: string | null;
                        objects: components["schemas"]["ListedDelivery"][];
                    };
                };
            };
        };
    };
    getDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description As `webhook-id`. */
                guid: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            object: components["schemas"]["DeliveryDetail"];
                        };
                        /** @constant */
                        status: "success";
                    } | components["schemas"]["DeliveryDetail"];
                };
            };
        };
    };
    resendDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description As `webhook-id`. */
                guid: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description It will be sent within a second or so. */
            202: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            object: components["schemas"]["Resend"];
                        };
                        /** @constant */
                        status: "success";
                    } | components["schemas"]["Resend"];
                };
            };
        };
    };
    createListener: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Names of actions, in which `*` is any text. All that the account can have, where it is left out. */
                    actions?: string[];
                    /**
                     * @description at most 50 letters, digits and . _ -: tells several listeners of a client apart
                     * @default
                     */
                    name?: string;
                    /**
                     * Format: uri
                     * @description Where this API is, as its deliverers reach it: mostly the address that you have of it.
                     * @example https://waybell.example.com
                     */
                    url: string;
                };
            };
        };
        responses: {
            /** @description The listener. Read its stream now. */
            201: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            object: components["schemas"]["Listener"];
                        };
                        /** @constant */
                        status: "success";
                    } | components["schemas"]["Listener"];
                };
            };
        };
    };
    endListener: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description It has ended. */
            204: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    answerRequest: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description as much of the answer, without NUL, as the delivery log is to have
                     * @default
                     */
                    body?: string;
                    /** @description the `id` of a request */
                    request: string;
                    status: number;
                };
            };
        };
        responses: {
            /** @description It is on its way to the deliverer. */
            204: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    streamRequests: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    callListener: {
        parameters: {
            query?: {
                /** @description As in the callback URL. */
                key?: string;
            };
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description What the program answered, with its status, whichever that is. */
            200: {
                headers: {
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    streamLive: {
        parameters: {
            query?: {
                /** @description Only of this action of the interface. */
                action?: components["schemas"]["ShipperActionName"] | components["schemas"]["CarrierActionName"];
                /** @description Only attempts that ended so, `suppressed` events, or each `notice`. */
                kind?: "delivered" | "failed" | "exhausted" | "dropped" | "suppressed" | "notice";
            };
            header?: {
                /** @description The `id` that came last: the feed goes on after it, with what happened meanwhile. Without it, the feed begins now. */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    getMissed: {
        parameters: {
            query?: {
                /** @description What was given up or dropped, or failed, from then on; without it, from 24 hours before `until`. */
                since?: string;
                /** @description And before; without it, now. */
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was missed. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Missed"];
                        /** @constant */
                        status: "success";
                    } | components["schemas"]["Missed"];
                };
            };
        };
    };
    listShipperSubscriptions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The subscriptions, by action. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            objects: components["schemas"]["ShipperSubscription"][];
                        };
                        /** @constant */
                        status: "success";
                    };
                };
            };
        };
    };
    subscribeShipper: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhook_action: components["schemas"]["ShipperActionName"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ShipperSubscribeRequest"];
            };
        };
        responses: {
            /** @description The subscription. */
            200: {
                headers: {
                    deprecation: components["headers"]["Deprecation"];
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    sunset: components["headers"]["Sunset"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            object: components["schemas"]["ShipperSubscription"];
                        };
                        /** @constant */
                        status: "success";
                    };
                };
            };
        };
    };
    unsubscribeShipper: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhook_action: components["schemas"]["ShipperActionName"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The subscription as it ended. */
            200: {
                headers: {
                    deprecation: components["headers"]["Deprecation"];
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    sunset: components["headers"]["Sunset"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            object: components["schemas"]["ShipperSubscription"];
                        };
                        /** @constant */
                        status: "success";
                    };
                };
            };
        };
    };
    listShipperActions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The actions that can be subscribed to. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            objects: components["schemas"]["ShipperAction"][];
                        };
                        /** @constant */
                        status: "success";
                    };
                };
            };
        };
    };
    listReplays: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The replays. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            objects: components["schemas"]["AskedReplay"][];
                        };
                        /** @constant */
                        status: "success";
                    } | {
                        objects: components["schemas"]["AskedReplay"][];
                    };
                };
            };
        };
    };
    createReplay: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description the name of an action, in which * is any text; this, or a subscription, is to be there
                     * @example order.*
                     */
                    action?: string;
                    /**
                     * @description Count only.
                     * @default false
                     */
                    dry_run?: boolean;
                    /**
                     * @description Also what was never made because there was no subscription that was on: it was switched off, had ended, or was not there yet. It is made now from the event, which is kept as long as bodies are.
                     * @default false
                     */
                    include_suppressed?: boolean;
                    /**
                     * @description What the subscription named by `subscription_guid` noted as `missed`, in place of `since`, `until`, `action` and `include_suppressed`.
                     * @enum {unknown}
                     */
                    missed?: true;
                    /** @default 10 */
                    per_second?: number;
                    /**
                     * Format: date-time
                     * @description What was given up, or failed, from then on.
                     */
                    since?: string;
                    /**
                     * Format: uuid
                     * @description Of the action of this subscription of the client, current or not; whichever of them missed it.
                     */
                    subscription_guid?: string;
                    /**
                     * Format: date-time
                     * @description And before; now, where it is left out.
                     */
                    until?: string;
                } | unknown | unknown;
            };
        };
        responses: {
            /** @description How many there are, where that was asked. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            object: components["schemas"]["ReplayCount"];
                        };
                        /** @constant */
                        status: "success";
                    } | components["schemas"]["ReplayCount"];
                };
            };
            /** @description It has begun. */
            202: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            object: components["schemas"]["Replay"];
                        };
                        /** @constant */
                        status: "success";
                    } | components["schemas"]["Replay"];
                };
            };
        };
    };
    getReplay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The replay. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            object: components["schemas"]["Replay"];
                        };
                        /** @constant */
                        status: "success";
                    } | components["schemas"]["Replay"];
                };
            };
        };
    };
    cancelReplay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The replay, cancelled. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            object: components["schemas"]["Replay"];
                        };
                        /** @constant */
                        status: "success";
                    } | components["schemas"]["Replay"];
                };
            };
        };
    };
    listSigningSecrets: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The secrets that are valid. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            objects: {
                                /** Format: date-time */
                                created_at: string;
                                /**
                                 * Format: date-time
                                 * @description Until when notifications are signed with it, too; null for the current secret.
                                 */
                                expires_at: string | null;
                                /** @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo= */
                                secret: string;
                            }[];
                        };
                        /** @constant */
                        status: "success";
                    } | {
                        objects: {
                            /** Format: date-time */
                            created_at: string;
                            /**
                             * Format: date-time
                             * @description Until when notifications are signed with it, too; null for the current secret.
                             */
                            expires_at: string | null;
                            /** @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo= */
                            secret: string;
                        }[];
                    };
                };
            };
        };
    };
    rotateSigningSecret: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @default false */
                    force?: boolean;
                };
            };
        };
        responses: {
            /** @description The secrets that are valid, the new one first. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            objects: {
                                /** Format: date-time */
                                created_at: string;
                                /**
                                 * Format: date-time
                                 * @description Until when notifications are signed with it, too; null for the current secret.
                                 */
                                expires_at: string | null;
                                /** @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo= */
                                secret: string;
                            }[];
                        };
                        /** @constant */
                        status: "success";
                    } | {
                        objects: {
                            /** Format: date-time */
                            created_at: string;
                            /**
                             * Format: date-time
                             * @description Until when notifications are signed with it, too; null for the current secret.
                             */
                            expires_at: string | null;
                            /** @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo= */
                            secret: string;
                        }[];
                    };
                };
            };
        };
    };
    getSourceNetworks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    "cache-control": components["headers"]["CacheControl"];
                    etag: components["headers"]["ETag"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SourceNetworks"];
                };
            };
        };
    };
    getStatistics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Counts by action and hour. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Statistics"];
                        /** @constant */
                        status: "success";
                    } | components["schemas"]["Statistics"];
                };
            };
        };
    };
    listSubscriptions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The subscriptions. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            objects: components["schemas"]["Subscription"][];
                        };
                        /** @constant */
                        status: "success";
                    } | {
                        objects: components["schemas"]["Subscription"][];
                    };
                };
            };
        };
    };
    putSubscriptions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Names of actions, in which `*` is any text: `order.*`. It stands for what the account can have: neither deprecated actions nor those of a feature that is not enabled. */
                    actions: string[];
                    /** @description Each revision action among them takes the fields that it has; if it has none of them, its form is the plain one. The other actions ignore it. Null, or left out: the plain form. */
                    audit_field_set?: string[] | null;
                    /**
                     * Format: uri
                     * @description Where notifications are sent: an absolute https URL (http too where the deployment allows it), without user info and fragment, whose host is not, and does not resolve only to, a private or reserved address.
                     * @example https://receiver.example.com/waybell
                     */
                    callback_url: string;
                    /**
                     * @description Switches those on again that were switched off. Else they stay off.
                     * @enum {unknown}
                     */
                    is_active?: true;
                };
            };
        };
        responses: {
            /** @description What became of each. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            objects: components["schemas"]["PutSubscription"][];
                        };
                        /** @constant */
                        status: "success";
                    } | {
                        objects: components["schemas"]["PutSubscription"][];
                    };
                };
            };
        };
    };
    getSubscription: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The subscription as it is now. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            object: components["schemas"]["Subscription"];
                        };
                        /** @constant */
                        status: "success";
                    } | components["schemas"]["Subscription"];
                };
            };
        };
    };
    changeSubscription: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description As with subscribing: only for the revision actions. Null is the plain form; left out, it stays as it is. */
                    audit_field_set?: string[] | null;
                    /**
                     * Format: uri
                     * @description Where notifications are sent: an absolute https URL (http too where the deployment allows it), without user info and fragment, whose host is not, and does not resolve only to, a private or reserved address.
                     * @example https://receiver.example.com/waybell
                     */
                    callback_url?: string;
                    /**
                     * @description Switches it on again where it was switched off. To have its deliveries wait, pause it.
                     * @enum {unknown}
                     */
                    is_active?: true;
                };
            };
        };
        responses: {
            /** @description The subscription as it is now. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            object: components["schemas"]["Subscription"];
                        };
                        /** @constant */
                        status: "success";
                    } | components["schemas"]["Subscription"];
                };
            };
        };
    };
    pauseSubscription: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /**
                     * Format: date-time
                     * @description As long as a delivery may wait (`DELIVERY_MAX_AGE`) at most; that long where it is left out.
                     * @example 2026-11-20T09:30:00.123Z
                     */
                    until?: string;
                };
            };
        };
        responses: {
            /** @description The subscription as it is now. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            object: components["schemas"]["Subscription"];
                        };
                        /** @constant */
                        status: "success";
                    } | components["schemas"]["Subscription"];
                };
            };
        };
    };
    resumeSubscription: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The subscription as it is now. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            object: components["schemas"]["Subscription"];
                        };
                        /** @constant */
                        status: "success";
                    } | components["schemas"]["Subscription"];
                };
            };
        };
    };
    testSubscription: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of a current subscription: `GET /v1/subscriptions` has it. */
                guid: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description What the receiver said. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            object: components["schemas"]["DeliveryDetail"];
                        };
                        /** @constant */
                        status: "success";
                    } | components["schemas"]["DeliveryDetail"];
                };
            };
        };
    };
    findTimeline: {
        parameters: {
            query: {
                /** @description The `next` of the page before; what comes in meanwhile moves nothing. */
                cursor?: string;
                /** @description What is asked about. */
                key: string;
                /** @description The kind of the key, where several things have the same. One that no key has is refused, with the names of those that there are. */
                kind?: string;
                /** @description How many entries a page has at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Events; none where nothing is known of it. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            /** @description The `cursor` of the next page; null: there is none. */
                            next: string | null;
                            objects: components["schemas"]["TimelineEvent"][];
                        };
                        /** @constant */
                        status: "success";
                    } | {
                        /** @description The `cursor` of the next page; null: there is none. */
                        next: string | null;
                        objects: components["schemas"]["TimelineEvent"][];
                    };
                };
            };
        };
    };
    getTimeline: {
        parameters: {
            query?: {
                /** @description The `next` of the page before; what comes in meanwhile moves nothing. */
                cursor?: string;
                /** @description The kind of the key, where several things have the same. One that no key has is refused, with the names of those that there are. */
                kind?: string;
                /** @description How many entries a page has at most. */
                limit?: number;
            };
            header?: never;
            path: {
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Events; none where nothing is known of it. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            /** @description The `cursor` of the next page; null: there is none. */
                            next: string | null;
                            objects: components["schemas"]["TimelineEvent"][];
                        };
                        /** @constant */
                        status: "success";
                    } | {
                        /** @description The `cursor` of the next page; null: there is none. */
                        next: string | null;
                        objects: components["schemas"]["TimelineEvent"][];
                    };
                };
            };
        };
    };
    getToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Whose it is. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            object: components["schemas"]["OwnToken"];
                        };
                        /** @constant */
                        status: "success";
                    } | components["schemas"]["OwnToken"];
                };
            };
        };
    };
    trigger: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description the name of an action
                     * @example order.created
                     */
                    action: string;
                    /**
                     * @description Whether the client's own subscription gets it although a listener runs.
                     * @default false
                     */
                    everywhere?: boolean;
                    /**
                     * @description What is to be another than in the example, by JSON pointers into the event: places in `/payload`, `/occurred_at` and `/error_message`. Numbers go as they are written.
                     * @example {
                     *       "/payload/id": 4711
                     *     }
                     */
                    set?: Record<string, never>;
                };
            };
        };
        responses: {
            /** @description It will be sent within a second or so. */
            202: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            object: components["schemas"]["Trigger"];
                        };
                        /** @constant */
                        status: "success";
                    } | components["schemas"]["Trigger"];
                };
            };
        };
    };
    listCarrierActions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The actions that can be subscribed to. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CarrierAction"][];
                };
            };
        };
    };
    listCarrierSubscriptions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhook_action: components["schemas"]["CarrierActionName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The current subscription of the client, or none. */
            200: {
                headers: {
                    deprecation: components["headers"]["Deprecation"];
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    sunset: components["headers"]["Sunset"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CarrierSubscription"][];
                };
            };
        };
    };
    subscribeCarrier: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhook_action: components["schemas"]["CarrierActionName"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CarrierSubscribeRequest"];
            };
        };
        responses: {
            /** @description The subscription, with a new verification token. */
            201: {
                headers: {
                    deprecation: components["headers"]["Deprecation"];
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    sunset: components["headers"]["Sunset"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CarrierSubscription"];
                };
            };
        };
    };
    unsubscribeCarrier: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhook_action: components["schemas"]["CarrierActionName"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The client is no longer subscribed. */
            204: {
                headers: {
                    deprecation: components["headers"]["Deprecation"];
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    sunset: components["headers"]["Sunset"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listShipperActionsUnprefixed: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The actions that can be subscribed to. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            objects: components["schemas"]["ShipperAction"][];
                        };
                        /** @constant */
                        status: "success";
                    };
                };
            };
        };
    };
}
