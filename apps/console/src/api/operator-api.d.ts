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
    "/admin-openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This document */
        get: operations["getAdminOpenApi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List accounts */
        get: operations["listAccounts"];
        put?: never;
        /**
         * Create an account
         * @description A broker is an account on the shipper interface.
         */
        post: operations["createAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{account}/clients/{client}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
            };
            cookie?: never;
        };
        /**
         * Find deliveries
         * @description Those of the client that fulfil every condition, newest first; with `status=exhausted`, `dropped` or both by when they were given up or dropped. A page may hold fewer than `limit`, even none, while `next` leads on: what is rare among very many has to be looked for.
         *
         *     With `after`, those that ended, delivered or not, in the order in which the log was told so: each end once, however late it came to the log, as it stands when it is asked for. One that is sent again by hand comes again. There is always a `next` to go on from, and `more` says whether it leads on at once. Bodies of a page have 2 MiB together at most, unless its first alone has more. As long as bodies are kept: then 410.
         */
        get: operations["listDeliveriesForClient"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{account}/clients/{client}/deliveries/{guid}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
                /** @description As `webhook-id`. */
                guid: string;
            };
            cookie?: never;
        };
        /**
         * See a delivery, its attempts and what was sent
         * @description One of the client, or of a listener of it.
         */
        get: operations["getDeliveryForClient"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{account}/clients/{client}/deliveries/{guid}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
                /** @description As `webhook-id`. */
                guid: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a delivery again
         * @description To the subscription that the client has to its action now. `webhook-id` and body stay, `X-Webhook-Attempt` goes on, and there are as many retries as for a new one. It counts for no deactivation.
         */
        post: operations["resendDeliveryForClient"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{account}/clients/{client}/live": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
            };
            cookie?: never;
        };
        /**
         * See what happens now
         * @description Server-sent events, until the client closes the connection: each attempt, each event for the account that the client was not sent, and each notice of what became of a subscription, a second or two after it happened, in the order in which the log has them. What comes to the log more than 30 seconds after it happened may be missing, and so may what happens faster than 500 records a second, of which `skipped` tells: `/v1/deliveries` has it all. A stream ends when its token does not hold any more, when its reader falls too far behind, and when the process stops: connect again, with `Last-Event-ID`.
         */
        get: operations["streamLiveForClient"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{account}/clients/{client}/missed": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
            };
            cookie?: never;
        };
        /**
         * See what the client missed, action by action
         * @description Of the actions that the client was subscribed to at some time of the range, or is now: what was given up or dropped, and the events that nothing was sent of, as no subscription was on. What has arrived since, or is on its way, is not missed. `POST /v1/replays` with `"action": "*"`, the same times and `include_suppressed` sends what `exhausted`, `dropped` and `suppressed` count where `is_active` is true. The 10,000 oldest are counted, as many as one replay takes.
         */
        get: operations["getMissedForClient"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{account}/clients/{client}/public/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
            };
            cookie?: never;
        };
        /**
         * List current subscriptions
         * @description The client's own, those that were switched off too.
         */
        get: operations["listShipperSubscriptionsForClient"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{account}/clients/{client}/public/webhooks/{webhook_action}/subscribe": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
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
        post: operations["subscribeShipperForClient"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{account}/clients/{client}/public/webhooks/{webhook_action}/unsubscribe": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
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
        post: operations["unsubscribeShipperForClient"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{account}/clients/{client}/public/webhooks/action_types": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
            };
            cookie?: never;
        };
        /**
         * List actions
         * @description Deprecated actions are left out; those of a feature are there only where it is enabled for the account.
         */
        get: operations["listShipperActionsForClient"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{account}/clients/{client}/replays": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
            };
            cookie?: never;
        };
        /**
         * See what was asked to be replayed
         * @description The latest 100 of the client, newest first. How far one has come, `GET /v1/replays/{guid}` tells.
         */
        get: operations["listReplaysForClient"];
        put?: never;
        /**
         * Send all that the client missed
         * @description All of an action that was given up or dropped, whichever subscription of the client it was for, also of one that was ended since; with `include_suppressed` also what was never made, for want of a subscription. It is sent to the subscription that the client has to the action now. With `*`, which is any text, it is of several actions at one rate: those that the client has a subscription to that is on. With `dry_run` it is only counted, by reason. With `missed` it is what one subscription missed while it was off, from the moment it went off, suppressed or not; of several such requests one does it. Where there is nothing, `explanation` says what there is instead. One request takes the 10,000 oldest at most, and counts no further; the next one takes the rest. With `missed`, what is noted as missed then begins where the replay ends.
         */
        post: operations["createReplayForClient"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{account}/clients/{client}/replays/{guid}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
                guid: string;
            };
            cookie?: never;
        };
        /** See how far a replay has come */
        get: operations["getReplayForClient"];
        put?: never;
        post?: never;
        /**
         * Cancel a replay
         * @description What was not sent yet is not sent, but for what is just being handed over: 50 at most for each process of the delivery log. What was sent is not called back.
         */
        delete: operations["cancelReplayForClient"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{account}/clients/{client}/statistics": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
            };
            cookie?: never;
        };
        /**
         * See how many deliveries arrived, hour by hour
         * @description Of the client, in the last 24 whole hours and the one that runs: every action that is subscribed now, or that there is something of. An attempt counts in the hour in which it ended, so that what was sent again counts again; tests by hand never count. What is known late of an hour that is over may be told hours later.
         */
        get: operations["getStatisticsForClient"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{account}/clients/{client}/subscriptions": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
            };
            cookie?: never;
        };
        /**
         * See all subscriptions, and why one is switched off, paused, stopped or suspended
         * @description The client's current ones, by action, with the guids that tests and replays ask for. Those that were switched off are among them; those that were ended are not.
         */
        get: operations["listSubscriptionsForClient"];
        /**
         * Have subscriptions to many actions
         * @description Each action is subscribed, or its subscription changed in place; nothing else is ended. The same request again changes nothing, so that a receiver can make it at each start. The answer has an entry for each action, by name.
         */
        put: operations["putSubscriptionsForClient"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{account}/clients/{client}/subscriptions/{guid}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
                guid: string;
            };
            cookie?: never;
        };
        /**
         * See a subscription
         * @description One that the client has now, with its verification token.
         */
        get: operations["getSubscriptionForClient"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change a subscription in place, or switch it on again
         * @description Its guid, verification token and history stay. Earlier failures no longer count. What it missed while it was off is noted as `missed`, with a count: `POST /v1/replays` with `missed` sends it. Another URL alone leaves one off that was switched off. A request that changes nothing does nothing.
         */
        patch: operations["changeSubscriptionForClient"];
        trace?: never;
    };
    "/v1/admin/accounts/{account}/clients/{client}/subscriptions/{guid}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
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
        post: operations["pauseSubscriptionForClient"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{account}/clients/{client}/subscriptions/{guid}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
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
        post: operations["resumeSubscriptionForClient"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{account}/clients/{client}/subscriptions/{guid}/test": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
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
        post: operations["testSubscriptionForClient"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{account}/clients/{client}/timeline/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
                key: string;
            };
            cookie?: never;
        };
        /**
         * See everything about an order, a vehicle, an offer …
         * @description The events that the account was to hear of, newest first: what was sent to the client, what its receiver said, and what was not sent and why. Ask by any name of it, however it is spelled: a guid in an event's payload, the number of an order (`number`, `id`, `order_id`, `purchase_order_number`), a VIN, the `subject` of a CloudEvent, or the guid of the event itself.
         */
        get: operations["getTimelineForClient"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{account}/clients/{client}/token": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
            };
            cookie?: never;
        };
        /**
         * See whose the access token is, and what it may do
         * @description Every access token that holds may ask, whatever its scopes.
         */
        get: operations["getTokenForClient"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{account}/clients/{client}/webhooks/": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
            };
            cookie?: never;
        };
        /**
         * List actions
         * @description Deprecated actions are left out.
         */
        get: operations["listCarrierActionsForClient"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{account}/clients/{client}/webhooks/{webhook_action}/subscriptions/": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
                webhook_action: components["schemas"]["CarrierActionName"];
            };
            cookie?: never;
        };
        /**
         * Look at the subscription to an action
         * @description Shows whether it was switched off.
         */
        get: operations["listCarrierSubscriptionsForClient"];
        put?: never;
        /**
         * Subscribe to an action
         * @description When subscribed already, active or switched off: 409. DELETE the subscription first.
         */
        post: operations["subscribeCarrierForClient"];
        /** Unsubscribe from an action */
        delete: operations["unsubscribeCarrierForClient"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{guid}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        /** See an account */
        get: operations["getAccount"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Name an account, and switch its features on and off
         * @description What is subscribed stays; nothing is sent for it while its feature is off.
         */
        patch: operations["updateAccount"];
        trace?: never;
    };
    "/v1/admin/accounts/{guid}/clients": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        /**
         * List the API clients of an account
         * @description By id: those that have, or had, an access token or a subscription.
         */
        get: operations["listClients"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{guid}/console-links": {
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
         * Create a link that opens the console for a client, once
         * @description For a platform that shows the console within a page of its own (`CONSOLE_PARENTS`), or for a person who has no token. Whoever opens it first is signed in. It is in the list of access tokens, and ends when revoked there. The audit log names the operator for the link and for its opening.
         */
        post: operations["createConsoleLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{guid}/subscriptions": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        /**
         * List the subscriptions of an account
         * @description Current and ended ones, the newest first.
         */
        get: operations["listSubscriptionsOfAccount"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{guid}/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        /**
         * List the access tokens of an account
         * @description Oldest first; never the tokens themselves, and none of links that have ended.
         */
        get: operations["listTokens"];
        put?: never;
        /**
         * Create an access token
         * @description Only a hash of it is kept. Without `scopes` it has `webhooks:read` and `webhooks:write`.
         */
        post: operations["createToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * See who changed accounts, tokens, secrets, subscriptions and stops
         * @description The last change first. The same as `./waybell audit`.
         */
        get: operations["listChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find deliveries of all accounts
         * @description Those that fulfil every condition, newest first; with `status=exhausted`, `dropped` or both by when they were given up or dropped. A page may hold fewer than `limit`, even none, while `next` leads on: what is rare among very many has to be looked for. By `endpoint` without `account`, those of subscriptions that have ended are left out.
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
    "/v1/admin/failing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * See what fails now
         * @description Tests count in none of it. The same as `./waybell failing`.
         */
        get: operations["listFailing"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/held-deactivations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the subscriptions that a rule would switch off now, and that are held
         * @description So many would be at once that the fault may be ours. The one that was held first comes first. What becomes of them, `./waybell deactivations` says.
         */
        get: operations["listHeldDeactivations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/hosts/{host}/start": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Without a port. */
                host: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Have callbacks to a stopped host go on
         * @description What waits is sent now, but for what is paused or stopped by itself.
         */
        post: operations["startHost"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/hosts/{host}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Without a port. */
                host: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Have all callbacks to a host wait
         * @description Whichever accounts they are of, to any port, until it is started, or they are too old. Clients see that, and why. Stopped again, the new reason counts.
         */
        post: operations["stopHost"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * See how the whole of it is now
         * @description What runs, what waits and for whom, what fails, is off or rejected. Tests by hand and `./waybell listen` count in none of it. A part that cannot be had now is null.
         */
        get: operations["getOverview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/queues": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** See what waits in every queue, and in Postgres for RabbitMQ */
        get: operations["listQueues"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rejected": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what the line refused
         * @description Oldest first. The same as `./waybell rejected list`.
         */
        get: operations["listRejected"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rejected/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Its id or message id, the guid of the event, or any key that only this one names. */
                id: string;
            };
            cookie?: never;
        };
        /** See a rejected message and its body */
        get: operations["getRejected"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rejected/{id}/check": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the one that it is meant for: it is not looked for. */
                id: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check a corrected event, without publishing it
         * @description Send what is to be published. The answer is what publishing it would say of it; RabbitMQ is not asked, and nothing changes.
         */
        post: operations["checkCorrected"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rejected/{id}/publish": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Its id. */
                id: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Publish a rejected event, corrected
         * @description Send the event as it is to be published, digit for digit, up to EVENT_MAX_SIZE. It is checked as `./waybell publish` checks it, and takes the place of the rejected one once RabbitMQ has confirmed it.
         */
        post: operations["publishCorrected"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rejected/purge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delete rejected messages for good
         * @description Say which by exactly one member. Without `confirm` nothing is deleted. The same as `./waybell rejected purge`.
         */
        post: operations["purgeRejected"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rejected/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Put rejected messages back on the line
         * @description By the door through which they came; each is removed once RabbitMQ has confirmed it. Say which by exactly one member. The same as `./waybell rejected retry`.
         */
        post: operations["retryRejected"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/stops": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the subscriptions and the hosts that are stopped
         * @description The one that was stopped last comes first.
         */
        get: operations["listStops"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/subscriptions/{guid}/start": {
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
         * Have a stopped subscription go on
         * @description What waits is sent now, unless it is paused, or its host is stopped.
         */
        post: operations["startSubscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/subscriptions/{guid}/stop": {
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
         * Have the deliveries of a subscription wait
         * @description Until it is started, or they are too old. Its client sees that, and why, and cannot end it: subscribed anew, it is still stopped. Stopped again, the new reason counts.
         */
        post: operations["stopSubscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/switched-off": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the subscriptions that are switched off now
         * @description The one that was switched off last comes first.
         */
        get: operations["listSwitchedOff"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** See whose the access token of the request is */
        get: operations["getOwnToken"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/tokens/{guid}": {
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
         * End an access token at once
         * @description Once more is fine.
         */
        delete: operations["revokeToken"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/waiting": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what waits, and why
         * @description What has waited longest first. The same as `./waybell waiting list`.
         */
        get: operations["listWaiting"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/why/{anything}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                anything: string;
            };
            cookie?: never;
        };
        /**
         * Tell why a callback did, or did not, arrive
         * @description By an order number, a VIN, or the guid of anything: an event, a delivery, an order, a subscription, an account; an account also by its name. Where nothing is called exactly that, by a part of an account's name, the first eight digits of a guid (but for what events are about), or the host or the URL of subscriptions. What it is is found out; what may mean several things is listed, up to 20 of a kind. The same as `./waybell why`.
         */
        get: operations["why"];
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
        AccessToken: {
            client_id: components["schemas"]["ClientId"];
            /**
             * @description Of the token of a link to the console, which is none until that is opened; else null.
             * @enum {unknown}
             */
            console_link: "unopened" | "opened" | null;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description Null: it holds until it is revoked.
             */
            expires_at: string | null;
            /** Format: uuid */
            guid: string;
            /**
             * Format: date-time
             * @description To the minute; null: never.
             */
            last_used_at: string | null;
            /** Format: date-time */
            revoked_at: string | null;
            scopes: components["schemas"]["Scopes"];
        };
        Account: {
            features: components["schemas"]["Feature"][];
            /**
             * Format: uuid
             * @description By which events name it.
             */
            guid: string;
            /** @enum {unknown} */
            interface: "shipper" | "carrier";
            /**
             * @description What people call it.
             * @example Acme
             */
            name: string | null;
        };
        AccountClient: {
            client_id: components["schemas"]["ClientId"];
            /** @description Current ones. */
            subscriptions: number;
            /** @description Of these, switched off. */
            switched_off: number;
            /**
             * Format: date-time
             * @description Of any of them, to the minute; null: never.
             */
            token_last_used_at: string | null;
            /** @description Access tokens that hold; JWTs are not among them. */
            tokens: number;
        };
        AccountName: {
            /** Format: uuid */
            guid: string;
            /** @description Null: it has none, or Waybell does not know the account. */
            name: string | null;
        };
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
        /** @description What was asked by may be this. Ask again by its guid, or with `as`, and for a key with `kind`. */
        Candidate: {
            /**
             * Format: date-time
             * @description When the last one of those counted was looked at.
             * @example 2026-11-20T09:30:00.123Z
             */
            at: string;
            /** @description How many there are; 1,000: or more. */
            events: number;
            key: string;
            /** @example order_id */
            key_kind: string;
            /** @constant */
            kind: "key";
        } | {
            action: string;
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            at: string;
            /** Format: uuid */
            guid: string;
            /** @enum {unknown} */
            interface: "shipper" | "carrier";
            /** @constant */
            kind: "event";
        } | {
            account: components["schemas"]["AccountName"];
            action: string;
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            at: string;
            client_id: string;
            /** Format: uuid */
            guid: string;
            /** @enum {unknown} */
            interface: "shipper" | "carrier";
            /** @constant */
            kind: "delivery";
        } | {
            account: components["schemas"]["AccountName"];
            action: string;
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            at: string;
            client_id: string;
            /** Format: uuid */
            guid: string;
            /** @enum {unknown} */
            interface: "shipper" | "carrier";
            /** @constant */
            kind: "subscription";
            /** @description Without its query. */
            url: string;
        } | {
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            at: string;
            /** Format: uuid */
            guid: string;
            /** @enum {unknown} */
            interface: "shipper" | "carrier";
            /** @constant */
            kind: "account";
            name: string | null;
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
        Change: {
            /** @description Null where it is of none: a host. */
            account: components["schemas"]["AccountName"] | null;
            /** @description Of the subscription; null: of something else, or it is gone. */
            action: string | null;
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            at: string;
            /** @description Whose token it was done by; null: by none, or it is gone. */
            by: {
                account: components["schemas"]["AccountName"];
                client_id: string;
            } | null;
            /** @description Where callbacks led to before, if that changed. */
            callback_origin_before: string | null;
            /** @description Of the subscription or the token. */
            client_id: string | null;
            /** @description The new values of what changed. */
            details: Record<string, never>;
            /** @description An address, or a person at a machine. */
            origin: string | null;
            /**
             * Format: uuid
             * @description Null outside of a request.
             */
            request_id: string | null;
            /**
             * Format: uuid
             * @description The account, token, signing secret or subscription; null: a host.
             */
            subject_guid: string | null;
            /** @example subscription.changed */
            what: string;
            /**
             * @example token 3d1c2f0a-6f5e-4a3f-9a55-0c8f2f0f7d11
             * @example command line
             */
            who: string;
        };
        /**
         * @description 1 to 200 visible ASCII characters
         * @example tms
         */
        ClientId: string;
        CorrectedEvent: {
            /** Format: uuid */
            event_guid: string;
            routing_key: string;
            /** @description Members that the contract does not know: notifications leave them out. */
            unknown_members: string[];
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
        /**
         * @description a number and a unit, such as 250ms, 4s, 1m, 24h or 90d
         * @example 90d
         */
        Duration: string;
        Failing: {
            /** @description Subscriptions that get nothing now, or missed what was not replayed, the latest first. */
            interrupted: {
                objects: components["schemas"]["Interrupted"][];
            };
            /** @description What the platform was told last, the latest first. */
            notices: {
                objects: components["schemas"]["OperationsNotice"][];
            };
            /** @description Where attempts fail most. */
            origins: {
                objects: components["schemas"]["FailingOrigin"][];
            };
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            since: string;
            /** @description The oldest deliveries without an end. */
            undelivered: {
                objects: components["schemas"]["Undelivered"][];
            };
            /** @description Endpoints that deliveries wait for; what has waited longest comes first. */
            waiting: {
                objects: components["schemas"]["WaitingEndpoint"][];
            };
        };
        FailingOrigin: {
            account: components["schemas"]["AccountName"];
            attempts: number;
            /** @description Attempts that failed, of `attempts`. */
            failed: number;
            /** @example https://receiver.example.com */
            origin: string;
            /** @description The most frequent one. */
            reason: string;
        };
        /** @enum {string} */
        Feature: "insurance" | "servicepay";
        HeldDeactivation: {
            account: components["schemas"]["AccountName"];
            action: string;
            client_id: string;
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            created_at: string;
            /**
             * Format: uuid
             * @description The delivery that did it; null: it is not known.
             */
            delivery_guid: string | null;
            /** Format: uuid */
            guid: string;
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            held_at: string;
            /** @enum {unknown} */
            interface: "shipper" | "carrier";
            /**
             * @description Which rule switched it off, or would.
             * @enum {unknown}
             */
            rule: "exhausted" | "window";
            /** @description Without its query. */
            url: string;
        };
        Interrupted: {
            account: components["schemas"]["AccountName"];
            action: string;
            client_id: string;
            /** Format: uuid */
            guid: string;
            /** @enum {unknown} */
            interface: "shipper" | "carrier";
            /** @description As the delivery log knows, up to 1,000 of a kind. Null: it waits. */
            missed: number | null;
            /** @description The rule that switched it off, or why an operator stopped it. */
            reason: string | null;
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            since: string | null;
            /**
             * @description `missed`: it is on again, and what it missed was not replayed.
             * @enum {unknown}
             */
            state: "off" | "stopped" | "paused" | "missed";
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            until: string | null;
            /** @description Without its query. */
            url: string;
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
            /** @description Of `switched_off` and `held` the rule, `exhausted` or `window`; of `switched_on` `switched_on`, or `held_back` where so many went off at once that the fault may be ours; of `ended` `unsubscribed` or `gone`; of `delivery.exhausted` why the last one failed; of `endpoint.waiting` why most wait. */
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
        OperationsNotice: {
            /** Format: uuid */
            account_guid: string;
            /** @description What operators call the account. */
            account_name: string | null;
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
            /** @description Of `switched_off` and `held` the rule, `exhausted` or `window`; of `switched_on` `switched_on`, or `held_back` where so many went off at once that the fault may be ours; of `ended` `unsubscribed` or `gone`; of `delivery.exhausted` why the last one failed; of `endpoint.waiting` why most wait. */
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
        OperatorDelivery: {
            account: components["schemas"]["AccountName"];
            action: string;
            /**
             * Format: date-time
             * @description When it was made.
             * @example 2026-11-20T09:30:00.123Z
             */
            at: string;
            attempts: {
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
                /**
                 * Format: uuid
                 * @description It may be another than the first: see resends.
                 */
                subscription_guid: string;
                tls_ms?: number;
                /** @description Where the request went, or was to go; values in the query are `***`. */
                url?: string;
                /**
                 * @description Only where it waited before, and why. `full`: its endpoint answered, and took no more at once. `hung`: it did not answer. `busy`: it said that it was too much (429 or 503). `paused`: its client has paused the subscription. `stopped`: the operator has stopped the subscription, or its host. `egress`: Waybell's own network had no way out. `open`: a request of it was under way, and it is sent again if the process that made the request dies.
                 * @enum {unknown}
                 */
                waited?: "full" | "hung" | "busy" | "paused" | "stopped" | "egress" | "open";
            }[];
            client_id: string;
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
            /** @enum {unknown} */
            interface: "shipper" | "carrier";
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
        OperatorEvent: {
            action: string;
            /**
             * Format: date-time
             * @description When it was looked at.
             * @example 2026-11-20T09:30:00.123Z
             */
            at: string;
            /** Format: uuid */
            event_guid: string;
            /**
             * @description Null where it could not be told of what was rejected.
             * @enum {unknown}
             */
            interface: "shipper" | "carrier" | null;
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
            receivers: components["schemas"]["AccountName"][];
            verdicts: components["schemas"]["OperatorVerdict"][];
        };
        OperatorSubscription: {
            account: components["schemas"]["AccountName"];
            action: string;
            client_id: string;
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Null: it is a current one.
             * @example 2026-11-20T09:30:00.123Z
             */
            ended_at: string | null;
            /**
             * Format: date-time
             * @description Since when its attempts fail; null: the last one did not.
             * @example 2026-11-20T09:30:00.123Z
             */
            failing_since?: string | null;
            /** Format: uuid */
            guid: string;
            /** @enum {unknown} */
            interface: "shipper" | "carrier";
            /**
             * Format: date-time
             * @description When its last successful attempt ended; null: none has.
             * @example 2026-11-20T09:30:00.123Z
             */
            last_success_at?: string | null;
            /**
             * Format: date-time
             * @description Null: its client has not paused it.
             * @example 2026-11-20T09:30:00.123Z
             */
            paused_until: string | null;
            /** @enum {unknown} */
            standing: "active" | "switched_off" | "ended";
            /** @description Null: neither it nor its host is stopped by an operator. */
            stopped: {
                /**
                 * Format: date-time
                 * @example 2026-11-20T09:30:00.123Z
                 */
                at: string;
                reason: string;
            } | null;
            /** @description When a rule switched it off, and when it was subscribed anew, the first one first. */
            switches: {
                /**
                 * Format: date-time
                 * @example 2026-11-20T09:30:00.123Z
                 */
                at: string;
                is_on: boolean;
                /**
                 * @description Which rule switched it off.
                 * @enum {unknown}
                 */
                rule?: "exhausted" | "window" | "unknown";
            }[];
            /** @description Without its query. */
            url: string;
        };
        /** @description What an event came to: a delivery, or why there is none. */
        OperatorVerdict: {
            delivery: components["schemas"]["OperatorDelivery"];
            /** @constant */
            kind: "delivery";
        } | {
            account?: components["schemas"]["AccountName"];
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
            client_id?: string;
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
            /** Format: uuid */
            delivery_guid?: string;
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
        Overview: {
            /** @description Null: it could not be counted in time. */
            last_hour: {
                attempts: number;
                /** @description Attempts that failed, of `attempts`. */
                failed: number;
                /**
                 * Format: date-time
                 * @description Null: none was.
                 * @example 2026-11-20T09:30:00.123Z
                 */
                last_rejected_at: string | null;
                /** @description The oldest delivery without an end; null: all have ended. */
                oldest_unfinished: components["schemas"]["Undelivered"] | null;
                /** @description Events that were rejected. */
                rejected: number;
                /**
                 * Format: date-time
                 * @example 2026-11-20T09:30:00.123Z
                 */
                since: string;
            } | null;
            /** @description Null: RabbitMQ does not say. */
            queues: {
                /** @description In all queues but those of rejected messages and for upstream. */
                messages: number;
                /** @description Queues that no service takes from, or without a leader. */
                unattended: number;
            } | null;
            /** @description Rejected messages; null: RabbitMQ does not say. */
            rejected: number | null;
            services: {
                objects: components["schemas"]["RunningService"][];
            };
            stopped: {
                hosts: number;
                subscriptions: number;
            };
            switched_off: {
                /** @description Those that would be off, if that were not held. */
                held: number;
                /** @description Those of them that went off since then. */
                lately: number;
                /** @description Subscriptions that are off, as a rule switched them off. */
                now: number;
                /**
                 * Format: date-time
                 * @example 2026-11-20T09:30:00.123Z
                 */
                since: string;
            };
            /** @description Deliveries that wait for their endpoint. */
            waiting: {
                /** @description As the deliverers counted them about a second ago. */
                deliveries: number;
                endpoints: number;
                /** @description The five that have waited longest. */
                longest: {
                    objects: components["schemas"]["WaitingEndpoint"][];
                };
                /**
                 * Format: date-time
                 * @description When the oldest delivery was made; null: none waits.
                 * @example 2026-11-20T09:30:00.123Z
                 */
                oldest_at: string | null;
                /** @description Endpoints that take nothing, of `endpoints`. */
                shut: number;
            };
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
        Purged: {
            /** @description How many were deleted, or would be. */
            count: number;
            /** @description False: there was no time for all that lie there. Ask again. */
            is_complete: boolean;
            /** @description False: it was not confirmed, and they are still there. */
            is_deleted: boolean;
            /** @description The first 1,000. */
            objects: components["schemas"]["Rejected"][];
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
        Queue: {
            consumers: number;
            /** @description False: RabbitMQ answered in a way that it answers in when it does not know. */
            is_known: boolean;
            /** @description Ready to be taken. */
            messages: number;
            name: string;
        };
        Queues: {
            objects: components["schemas"]["Queue"][];
            /** @description What waits in Postgres as RabbitMQ does not accept it; what has waited longest comes first. */
            waiting: {
                objects: components["schemas"]["WaitingDestination"][];
            };
        };
        Rejected: {
            content_encoding?: string;
            content_type?: string;
            correlation_id?: string;
            /** @description What exactly is wrong; may be empty. */
            detail: string;
            /** @description By which it had come. */
            exchange: string;
            /** @description Made of the message itself: the same as long as it lies there. */
            id: string;
            message_id?: string;
            /** @description Where it was rejected. */
            queue: string;
            /**
             * @description Of those that failure-reasons.md lists.
             * @example payload_invalid
             */
            reason: string;
            /** Format: date-time */
            rejected_at: string | null;
            routing_key: string;
            /** @description Of its body, in bytes. */
            size: number;
            traceparent?: string;
            type?: string;
            /** @description Who published it, where RabbitMQ has checked that. */
            user_id?: string;
        };
        RejectedDetail: {
            /** @description Decompressed; records of what became of deliveries as they read. */
            body: string;
            /**
             * @description `base64`: it is no text, and told as it lies there.
             * @enum {unknown}
             */
            body_encoding: "utf-8" | "base64";
            content_encoding?: string;
            content_type?: string;
            correlation_id?: string;
            /** @description What exactly is wrong; may be empty. */
            detail: string;
            /** @description By which it had come. */
            exchange: string;
            /** @description Made of the message itself: the same as long as it lies there. */
            id: string;
            message_id?: string;
            /** @description Where it was rejected. */
            queue: string;
            /**
             * @description Of those that failure-reasons.md lists.
             * @example payload_invalid
             */
            reason: string;
            /** Format: date-time */
            rejected_at: string | null;
            routing_key: string;
            /** @description Of its body, in bytes. */
            size: number;
            traceparent?: string;
            type?: string;
            /** @description Who published it, where RabbitMQ has checked that. */
            user_id?: string;
        };
        RejectedList: {
            /** @description False: there was no time for all that lie there. Ask again. */
            is_complete: boolean;
            objects: components["schemas"]["Rejected"][];
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
             * Format: uuid
             * @description To which it goes.
             */
            subscription_guid: string;
        };
        Retried: {
            /** @description False: there was no time for all that lie there. Ask again. */
            is_complete: boolean;
            /** @description What became of the first 1,000. */
            objects: ({
                id: string;
                /** @constant */
                kind: "retried";
                /** @description Where it went. */
                to: string;
            } | {
                id: string;
                /** @constant */
                kind: "stays";
                why: string;
            })[];
            /** @description How many are back on the line; what is still wrong is rejected again. */
            retried: number;
            stayed: number;
        };
        RunningService: {
            /**
             * Format: date-time
             * @description When the newest of them started.
             * @example 2026-11-20T09:30:00.123Z
             */
            last_started_at: string | null;
            /** @description How many are connected to Postgres, as each is as long as it runs. A setting `application_name` in DATABASE_URL hides them. */
            processes: number;
            /**
             * Format: date-time
             * @description When one of them last asked Postgres something: five seconds ago at most. Null also where the API’s user may not see it (`pg_read_all_stats`).
             * @example 2026-11-20T09:30:00.123Z
             */
            seen_at: string | null;
            /** @example deliverer */
            service: string;
            /**
             * Format: date-time
             * @description When the oldest of them started; null: none runs.
             * @example 2026-11-20T09:30:00.123Z
             */
            started_at: string | null;
        };
        Scopes: ("webhooks:read" | "webhooks:write" | "admin")[];
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
        StoppedHost: {
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            at: string;
            host: string;
            reason: string;
            /** @description Current ones whose callbacks go there. */
            subscriptions: number;
        };
        Stops: {
            hosts: components["schemas"]["StoppedHost"][];
            /** @description Also those that their clients ended: subscribed anew, they are still stopped. */
            subscriptions: components["schemas"]["OperatorSubscription"][];
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
            /** @description Only where it was off and is on again: what came meanwhile, until a replay of what was `missed` is asked for; and again where the delivery log gets something of that time later. */
            missed?: {
                /** @description Only where it was just changed: as many as one replay takes, at most. */
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
        SwitchedOff: {
            account: components["schemas"]["AccountName"];
            action: string;
            client_id: string;
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            created_at: string;
            /**
             * Format: uuid
             * @description The delivery that did it; null: it is not known.
             */
            delivery_guid: string | null;
            /** Format: uuid */
            guid: string;
            /** @enum {unknown} */
            interface: "shipper" | "carrier";
            /**
             * @description Which rule switched it off, or would.
             * @enum {unknown}
             */
            rule: "exhausted" | "window";
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            switched_off_at: string;
            /** @description Without its query. */
            url: string;
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
        /** @description What is known. `several`: it means several things. */
        Told: {
            /** @constant */
            kind: "several";
            objects: components["schemas"]["Candidate"][];
        } | {
            /** @constant */
            kind: "events";
            /** @description The `cursor` of the next page; null: there is none. */
            next: string | null;
            objects: components["schemas"]["OperatorEvent"][];
        } | {
            delivery: components["schemas"]["OperatorDelivery"];
            /** @constant */
            kind: "delivery";
        } | {
            deliveries: components["schemas"]["OperatorDelivery"][];
            /** @constant */
            kind: "subscription";
            subscription: components["schemas"]["OperatorSubscription"];
        } | {
            account: components["schemas"]["Account"];
            /** @description The latest. */
            deliveries: components["schemas"]["OperatorDelivery"][];
            /** @constant */
            kind: "account";
            /** @description Current ones; the account has a list of all. */
            subscriptions: components["schemas"]["OperatorSubscription"][];
        };
        Undelivered: {
            account: components["schemas"]["AccountName"];
            action: string;
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            at: string;
            attempts: number;
            /** Format: uuid */
            guid: string;
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
        Waiting: {
            /** @description What waits in Postgres as RabbitMQ does not accept it; what has waited longest comes first. */
            destinations: {
                objects: components["schemas"]["WaitingDestination"][];
            };
            /** @description Endpoints that deliveries wait for; what has waited longest comes first. */
            endpoints: {
                objects: components["schemas"]["WaitingEndpoint"][];
            };
        };
        WaitingDestination: {
            bytes: number;
            exchange: string;
            /** @description Whether a process that lives has it in hand. */
            is_claimed: boolean;
            /**
             * Format: date-time
             * @description When a process is to look at it next; null while one has it in hand.
             * @example 2026-11-20T09:30:00.123Z
             */
            next_try_at: string | null;
            /**
             * Format: date-time
             * @description When the oldest of them was made.
             * @example 2026-11-20T09:30:00.123Z
             */
            oldest_at: string;
            publications: number;
            routing_key: string;
            /**
             * @description Whose it is.
             * @example event-router
             */
            service: string;
            /**
             * Format: date-time
             * @description Since when it has taken nothing; null: it answers, and takes some.
             * @example 2026-11-20T09:30:00.123Z
             */
            shut_since: string | null;
        };
        WaitingEndpoint: {
            account: components["schemas"]["AccountName"];
            bytes: number;
            deliveries: number;
            /** @description Whether a process that lives has it in hand. */
            is_claimed: boolean;
            /** @description False: there are more than 10,000. What is told is then of 10,000 of them. */
            is_complete: boolean;
            /**
             * Format: date-time
             * @description When a process is to look at it next; null while one has it in hand.
             * @example 2026-11-20T09:30:00.123Z
             */
            next_try_at: string | null;
            /**
             * Format: date-time
             * @description When the oldest of them was made.
             * @example 2026-11-20T09:30:00.123Z
             */
            oldest_at: string;
            /**
             * Format: date-time
             * @description Since when it has taken nothing; null: it answers, and takes some.
             * @example 2026-11-20T09:30:00.123Z
             */
            shut_since: string | null;
            /** @description Those that something waits for. */
            subscription_guids: string[];
            /** @description Without its query; null: no subscription has it any more. */
            url: string | null;
            /** @description `full`: its endpoint answered, and took no more at once. `hung`: it did not answer. `busy`: it said that it was too much (429 or 503). `paused`: its client has paused the subscription. `stopped`: the operator has stopped the subscription, or its host. `egress`: Waybell's own network had no way out. `open`: a request of it was under way, and it is sent again if the process that made the request dies. */
            why: ("full" | "hung" | "busy" | "paused" | "stopped" | "egress" | "open")[];
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
    getAdminOpenApi: {
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
    listAccounts: {
        parameters: {
            query?: {
                /** @description The `next` of the page before. */
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Up to 1,000 accounts, by guid. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description Null: there are no more.
                         */
                        next: string | null;
                        objects: components["schemas"]["Account"][];
                    };
                };
            };
        };
    };
    createAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    features?: components["schemas"]["Feature"][];
                    /** Format: uuid */
                    guid?: string;
                    /** @enum {unknown} */
                    interface: "shipper" | "carrier";
                    /**
                     * @description a name of at most 200 printable characters; null or an empty one for none
                     * @example Acme
                     */
                    name?: string | null;
                };
            };
        };
        responses: {
            /** @description The account. */
            201: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    listDeliveriesForClient: {
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
                reason?: "credentials_unavailable" | "dns" | "blocked_address" | "connect_refused" | "connect_timeout" | "unreachable" | "tls_name" | "tls_expired" | "tls_untrusted" | "tls_failed" | "tls_certificate_required" | "handover_timeout" | "response_timeout" | "reset" | "invalid_response" | "redirect" | "http_4xx" | "http_5xx" | "http_other" | "unknown" | "expired" | "parked_over_limit" | "unsubscribed" | "gone" | "deactivated" | "feature_off" | "forgotten";
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
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
            };
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
    getDeliveryForClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
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
    resendDeliveryForClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
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
    streamLiveForClient: {
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
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
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
    getMissedForClient: {
        parameters: {
            query?: {
                /** @description What was given up or dropped, or came in vain, from then on; without it, from 24 hours before `until`. */
                since?: string;
                /** @description And before; without it, now. */
                until?: string;
            };
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
            };
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
    listShipperSubscriptionsForClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
            };
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
    subscribeShipperForClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
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
    unsubscribeShipperForClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
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
    listShipperActionsForClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
            };
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
    listReplaysForClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
            };
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
    createReplayForClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
            };
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
                     * @description What was given up, or came in vain, from then on.
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
    getReplayForClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
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
    cancelReplayForClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
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
    getStatisticsForClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
            };
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
    listSubscriptionsForClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
            };
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
    putSubscriptionsForClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
            };
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
    getSubscriptionForClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
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
    changeSubscriptionForClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
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
    pauseSubscriptionForClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
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
    resumeSubscriptionForClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
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
    testSubscriptionForClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
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
    getTimelineForClient: {
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
                account: string;
                client: components["schemas"]["ClientId"];
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
    getTokenForClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
            };
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
    listCarrierActionsForClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
            };
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
    listCarrierSubscriptionsForClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
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
    subscribeCarrierForClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
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
    unsubscribeCarrierForClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                account: string;
                client: components["schemas"]["ClientId"];
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
    getAccount: {
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
            /** @description The account. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    updateAccount: {
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
                    add_features?: components["schemas"]["Feature"][];
                    /**
                     * @description a name of at most 200 printable characters; null or an empty one for none
                     * @example Acme
                     */
                    name?: string | null;
                    remove_features?: components["schemas"]["Feature"][];
                };
            };
        };
        responses: {
            /** @description The account as it is now. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    listClients: {
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
            /** @description The clients. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        objects: components["schemas"]["AccountClient"][];
                    };
                };
            };
        };
    };
    createConsoleLink: {
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
                    /** @description The client that the console is opened for; else `default`. */
                    client_id?: components["schemas"]["ClientId"];
                    /** @description How long it can be opened: a day at most; else 10m. */
                    expires_in?: components["schemas"]["Duration"];
                    /** @description What may be done there; else `webhooks:read`. */
                    scopes?: ("webhooks:read" | "webhooks:write")[];
                    /** @description How long one is signed in, from the opening on: a day at most; else 1h. */
                    token_expires_in?: components["schemas"]["Duration"];
                };
            };
        };
        responses: {
            /** @description The link, shown this once. */
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
                        /**
                         * Format: uuid
                         * @description Of the access token that it is opened with.
                         */
                        guid: string;
                        /** @description Append it to the address at which clients reach the API. A page of the console may follow, such as `/deliveries`. */
                        path: string;
                    };
                };
            };
        };
    };
    listSubscriptionsOfAccount: {
        parameters: {
            query?: {
                /** @description The `next` of the page before; what comes in meanwhile moves nothing. */
                cursor?: string;
                /** @description How many entries a page has at most. */
                limit?: number;
                /** @description Whether those of `./waybell listen` are meant, too. */
                listeners?: boolean;
            };
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Subscriptions. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The `cursor` of the next page; null: there is none. */
                        next: string | null;
                        objects: components["schemas"]["OperatorSubscription"][];
                    };
                };
            };
        };
    };
    listTokens: {
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
            /** @description The access tokens. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        objects: components["schemas"]["AccessToken"][];
                    };
                };
            };
        };
    };
    createToken: {
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
                    /** @description Each has subscriptions of its own; else `default`. */
                    client_id?: components["schemas"]["ClientId"];
                    /** @description Without it, the token holds until it is revoked. */
                    expires_in?: components["schemas"]["Duration"];
                    scopes?: components["schemas"]["Scopes"];
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
                        /** Format: uuid */
                        guid: string;
                        token: string;
                    };
                };
            };
        };
    };
    listChanges: {
        parameters: {
            query?: {
                /** @description Of this account alone. */
                account?: string;
                /** @description How many entries a page has at most. */
                limit?: number;
                /** @description From this time on. */
                since?: string;
                /** @description Of this subscription alone. */
                subscription?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Changes. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        objects: components["schemas"]["Change"][];
                    };
                };
            };
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                /** @description Of this account alone. */
                account?: string;
                /** @description An action of the interface. */
                action?: string;
                /** @description Of this client alone. */
                client?: components["schemas"]["ClientId"];
                /** @description The `next` of the page before; what comes in meanwhile moves nothing. */
                cursor?: string;
                /** @description To subscriptions whose callbacks go there now: a host, also with its port, an origin, or a URL, of which the query does not count. */
                endpoint?: string;
                /** @description The guid of a delivery or of its event, or the first eight digits of it. */
                guid?: string;
                /** @description What they are about, as for the timeline. */
                key?: string;
                /** @description The kind of the key, where several things have the same. One that no key has is refused, with the names of those that there are. */
                kind?: string;
                /** @description How many entries a page has at most. */
                limit?: number;
                /** @description Whether those of `./waybell listen` are meant, too. */
                listeners?: boolean;
                /** @description Why they were given up or dropped; with `status=retrying`, why the last attempt failed. */
                reason?: "credentials_unavailable" | "dns" | "blocked_address" | "connect_refused" | "connect_timeout" | "unreachable" | "tls_name" | "tls_expired" | "tls_untrusted" | "tls_failed" | "tls_certificate_required" | "handover_timeout" | "response_timeout" | "reset" | "invalid_response" | "redirect" | "http_4xx" | "http_5xx" | "http_other" | "unknown" | "expired" | "parked_over_limit" | "unsubscribed" | "gone" | "deactivated" | "feature_off" | "forgotten";
                /** @description Made at this time or later. */
                since?: string;
                /** @description How they stand: some of these, with commas between, such as `exhausted,dropped`. */
                status?: ("waiting" | "retrying" | "delivered" | "exhausted" | "dropped" | "rejected")[];
                /** @description To this subscription alone. */
                subscription?: string;
                /** @description Made before this time. */
                until?: string;
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
                        /** @description The `cursor` of the next page; null: there is none. */
                        next: string | null;
                        objects: components["schemas"]["OperatorDelivery"][];
                    };
                };
            };
        };
    };
    listFailing: {
        parameters: {
            query?: {
                /** @description Of this account alone. */
                account?: string;
                /** @description How many entries a page has at most. */
                limit?: number;
                /** @description Whether those of `./waybell listen` are meant, too. */
                listeners?: boolean;
                /** @description From this time on; without it, of the last hour. */
                since?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What fails, each list by itself up to `limit`. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failing"];
                };
            };
        };
    };
    listHeldDeactivations: {
        parameters: {
            query?: {
                /** @description Of this account alone. */
                account?: string;
                /** @description How many entries a page has at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Subscriptions. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        objects: components["schemas"]["HeldDeactivation"][];
                    };
                };
            };
        };
    };
    startHost: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Without a port. */
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
            /** @description It is no longer stopped. */
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
    stopHost: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Without a port. */
                host: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description a text of 1 to 200 printable characters; clients see it
                     * @example the receiver is being moved
                     */
                    reason: string;
                };
            };
        };
        responses: {
            /** @description The host. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoppedHost"];
                };
            };
        };
    };
    getOverview: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The figures. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Overview"];
                };
            };
        };
    };
    listQueues: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The queues that there are. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Queues"];
                };
            };
        };
    };
    listRejected: {
        parameters: {
            query?: {
                /** @description Only those that name it anywhere in their text. */
                about?: string;
                /** @description How many, at most. */
                limit?: number;
                /** @description Only those of this reason. */
                reason?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Rejected messages, without their bodies. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RejectedList"];
                };
            };
        };
    };
    getRejected: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Its id or message id, the guid of the event, or any key that only this one names. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The message. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RejectedDetail"];
                };
            };
        };
    };
    checkCorrected: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the one that it is meant for: it is not looked for. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description It would be taken. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CorrectedEvent"];
                };
            };
        };
    };
    publishCorrected: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Its id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description It is on the line, and the rejected one is gone. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CorrectedEvent"];
                };
            };
        };
    };
    purgeRejected: {
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
                     * @description all that name a guid, a number, a VIN or another name of something
                     * @example 4711
                     */
                    about?: string;
                    /**
                     * @description All that lie there.
                     * @enum {boolean}
                     */
                    all?: true;
                    /**
                     * @description Without it, it is only told what would be deleted.
                     * @default false
                     */
                    confirm?: boolean;
                    /** @description Ids or message ids, or guids of events. */
                    ids?: string[];
                    /**
                     * @description All of this reason.
                     * @example payload_invalid
                     */
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description What was, or would be, deleted. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Purged"];
                };
            };
        };
    };
    retryRejected: {
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
                     * @description all that name a guid, a number, a VIN or another name of something
                     * @example 4711
                     */
                    about?: string;
                    /**
                     * @description All that lie there.
                     * @enum {boolean}
                     */
                    all?: true;
                    /** @description Ids or message ids, or guids of events. */
                    ids?: string[];
                    /**
                     * @description All of this reason.
                     * @example payload_invalid
                     */
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description What became of them. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Retried"];
                };
            };
        };
    };
    listStops: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What is stopped. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Stops"];
                };
            };
        };
    };
    startSubscription: {
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
            /** @description The subscription that its client has to the action now, or had last. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatorSubscription"];
                };
            };
        };
    };
    stopSubscription: {
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
                     * @description a text of 1 to 200 printable characters; clients see it
                     * @example the receiver is being moved
                     */
                    reason: string;
                };
            };
        };
        responses: {
            /** @description The subscription that its client has to the action now, or had last. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatorSubscription"];
                };
            };
        };
    };
    listSwitchedOff: {
        parameters: {
            query?: {
                /** @description Of this account alone. */
                account?: string;
                /** @description How many entries a page has at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Subscriptions. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        objects: components["schemas"]["SwitchedOff"][];
                    };
                };
            };
        };
    };
    getOwnToken: {
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
                        /** Format: uuid */
                        account_guid: string;
                        /**
                         * @description What people call it.
                         * @example Acme
                         */
                        account_name: string | null;
                        /** @example default */
                        client_id: string;
                        scopes: ("webhooks:read" | "webhooks:write" | "admin")[];
                    };
                };
            };
        };
    };
    revokeToken: {
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
            /** @description It no longer holds. */
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
    listWaiting: {
        parameters: {
            query?: {
                /** @description Of this account alone. */
                account?: string;
                /** @description How many entries a page has at most. */
                limit?: number;
                /** @description Whether those of `./waybell listen` are meant, too. */
                listeners?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What waits, each list by itself up to `limit`. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Waiting"];
                };
            };
        };
    };
    why: {
        parameters: {
            query?: {
                /** @description What it is, where it may mean several things. */
                as?: "event" | "delivery" | "key" | "subscription" | "account";
                /** @description The `next` of the page before; what comes in meanwhile moves nothing. */
                cursor?: string;
                /** @description The kind of the key, where several things have the same. One that no key has is refused, with the names of those that there are. */
                kind?: string;
                /** @description How many entries a page has at most. */
                limit?: number;
                /** @description Whether those of `./waybell listen` are meant, too. */
                listeners?: boolean;
            };
            header?: never;
            path: {
                anything: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What is known of it. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Told"];
                };
            };
        };
    };
}
