// Made from the catalog: `./waybell docs`. Not to be edited.
import type { ExactObject, ExactValue, Numeric } from '@waybell/events/exact-json';

/** A field that a revision changed. */
export type Change = { old_value: ExactValue; new_value: ExactValue };
/**
 * Sent when order is created.
 */
export interface ShipperOrderCreatedNotification {
  action: 'order.created';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when order is created.
 */
export interface ShipperOrderCreatedRevisionNotification {
  action: 'order.created';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
  revision_guid: string;
  user_guid?: string;
  carrier_phone?: string;
  carrier_name?: string;
  carrier_contact_name?: string;
  carrier_email?: string;
  carrier_guid?: string;
  /**
   * each changed field as {old_value, new_value}
   */
  data: {
    number?: Change;
    purchase_order_number?: Change;
    price?: Change;
    transport_type?: Change;
    inspection_type?: Change;
    broker_fee?: Change;
    order_instructions?: Change;
    loadboard_instructions?: Change;
    dispatcher_name?: Change;
    sales_representative?: Change;
    /**
     * each changed field as {old_value, new_value}
     */
    customer?: {
      name?: Change;
      business_type?: Change;
      address?: Change;
      city?: Change;
      state?: Change;
      zip?: Change;
      phone?: Change;
      email?: Change;
      contact_name?: Change;
      contact_title?: Change;
      contact_email?: Change;
      contact_phone?: Change;
      contact_mobile_phone?: Change;
    };
    /**
     * each changed field as {old_value, new_value}
     */
    payment?: {
      terms?: Change;
      method?: Change;
      notes?: Change;
      amount?: Change;
      reference_number?: Change;
    };
    /**
     * each changed field as {old_value, new_value}
     */
    customer_payment?: {
      terms?: Change;
      method?: Change;
      notes?: Change;
      amount?: Change;
      tariff?: Change;
      deposit?: Change;
      reference_number?: Change;
    };
    /**
     * each changed field as {old_value, new_value}
     */
    pickup?: {
      first_available_pickup_date?: Change;
      date_type?: Change;
      schedule_at_by_customer?: Change;
      schedule_ends_at_by_customer?: Change;
      scheduled_at?: Change;
      schedule_ends_at?: Change;
      scheduled_at_by_carrier?: Change;
      adjusted_date?: Change;
      notes?: Change;
      /**
       * each changed field as {old_value, new_value}
       */
      venue?: {
        name?: Change;
        business_type?: Change;
        address?: Change;
        city?: Change;
        state?: Change;
        zip?: Change;
        contact_name?: Change;
        contact_title?: Change;
        contact_email?: Change;
        contact_phone?: Change;
        contact_mobile_phone?: Change;
      };
    };
    /**
     * each changed field as {old_value, new_value}
     */
    delivery?: {
      date_type?: Change;
      schedule_at_by_customer?: Change;
      schedule_ends_at_by_customer?: Change;
      scheduled_at?: Change;
      schedule_ends_at?: Change;
      scheduled_at_by_carrier?: Change;
      adjusted_date?: Change;
      notes?: Change;
      /**
       * each changed field as {old_value, new_value}
       */
      venue?: {
        name?: Change;
        business_type?: Change;
        address?: Change;
        city?: Change;
        state?: Change;
        zip?: Change;
        contact_name?: Change;
        contact_title?: Change;
        contact_email?: Change;
        contact_phone?: Change;
        contact_mobile_phone?: Change;
      };
    };
  };
}

/**
 * Sent when order is updated.
 */
export interface ShipperOrderModifiedNotification {
  action: 'order.modified';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when order is updated.
 */
export interface ShipperOrderModifiedRevisionNotification {
  action: 'order.modified';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
  revision_guid: string;
  user_guid?: string;
  carrier_phone?: string;
  carrier_name?: string;
  carrier_contact_name?: string;
  carrier_email?: string;
  carrier_guid?: string;
  /**
   * each changed field as {old_value, new_value}
   */
  data: {
    number?: Change;
    purchase_order_number?: Change;
    price?: Change;
    transport_type?: Change;
    inspection_type?: Change;
    broker_fee?: Change;
    order_instructions?: Change;
    loadboard_instructions?: Change;
    dispatcher_name?: Change;
    sales_representative?: Change;
    /**
     * each changed field as {old_value, new_value}
     */
    customer?: {
      name?: Change;
      business_type?: Change;
      address?: Change;
      city?: Change;
      state?: Change;
      zip?: Change;
      phone?: Change;
      email?: Change;
      contact_name?: Change;
      contact_title?: Change;
      contact_email?: Change;
      contact_phone?: Change;
      contact_mobile_phone?: Change;
    };
    /**
     * each changed field as {old_value, new_value}
     */
    payment?: {
      terms?: Change;
      method?: Change;
      notes?: Change;
      amount?: Change;
      reference_number?: Change;
    };
    /**
     * each changed field as {old_value, new_value}
     */
    customer_payment?: {
      terms?: Change;
      method?: Change;
      notes?: Change;
      amount?: Change;
      tariff?: Change;
      deposit?: Change;
      reference_number?: Change;
    };
    /**
     * each changed field as {old_value, new_value}
     */
    pickup?: {
      first_available_pickup_date?: Change;
      date_type?: Change;
      schedule_at_by_customer?: Change;
      schedule_ends_at_by_customer?: Change;
      scheduled_at?: Change;
      schedule_ends_at?: Change;
      scheduled_at_by_carrier?: Change;
      adjusted_date?: Change;
      notes?: Change;
      /**
       * each changed field as {old_value, new_value}
       */
      venue?: {
        name?: Change;
        business_type?: Change;
        address?: Change;
        city?: Change;
        state?: Change;
        zip?: Change;
        contact_name?: Change;
        contact_title?: Change;
        contact_email?: Change;
        contact_phone?: Change;
        contact_mobile_phone?: Change;
      };
    };
    /**
     * each changed field as {old_value, new_value}
     */
    delivery?: {
      date_type?: Change;
      schedule_at_by_customer?: Change;
      schedule_ends_at_by_customer?: Change;
      scheduled_at?: Change;
      schedule_ends_at?: Change;
      scheduled_at_by_carrier?: Change;
      adjusted_date?: Change;
      notes?: Change;
      /**
       * each changed field as {old_value, new_value}
       */
      venue?: {
        name?: Change;
        business_type?: Change;
        address?: Change;
        city?: Change;
        state?: Change;
        zip?: Change;
        contact_name?: Change;
        contact_title?: Change;
        contact_email?: Change;
        contact_phone?: Change;
        contact_mobile_phone?: Change;
      };
    };
  };
}

/**
 * Sent when vehicle is created.
 */
export interface ShipperVehicleCreatedNotification {
  action: 'vehicle.created';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * the vehicle
   */
  vehicle_guid: string;
}

/**
 * Sent when vehicle is created.
 */
export interface ShipperVehicleCreatedRevisionNotification {
  action: 'vehicle.created';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * the vehicle
   */
  vehicle_guid: string;
  revision_guid: string;
  user_guid?: string;
  carrier_phone?: string;
  carrier_name?: string;
  carrier_contact_name?: string;
  carrier_email?: string;
  carrier_guid?: string;
  /**
   * each changed field as {old_value, new_value}
   */
  data: {
    make?: Change;
    model?: Change;
    type?: Change;
    year?: Change;
    color?: Change;
    vin?: Change;
    price?: Change;
    tariff?: Change;
    lot_number?: Change;
  };
}

/**
 * Sent when vehicle is updated.
 */
export interface ShipperVehicleModifiedNotification {
  action: 'vehicle.modified';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * the vehicle
   */
  vehicle_guid: string;
}

/**
 * Sent when vehicle is updated.
 */
export interface ShipperVehicleModifiedRevisionNotification {
  action: 'vehicle.modified';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * the vehicle
   */
  vehicle_guid: string;
  revision_guid: string;
  user_guid?: string;
  carrier_phone?: string;
  carrier_name?: string;
  carrier_contact_name?: string;
  carrier_email?: string;
  carrier_guid?: string;
  /**
   * each changed field as {old_value, new_value}
   */
  data: {
    make?: Change;
    model?: Change;
    type?: Change;
    year?: Change;
    color?: Change;
    vin?: Change;
    price?: Change;
    tariff?: Change;
    lot_number?: Change;
  };
}

/**
 * Sent when vehicle is deleted.
 */
export interface ShipperVehicleDeletedNotification {
  action: 'vehicle.deleted';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * the vehicle
   */
  vehicle_guid: string;
}

/**
 * Sent when vehicle is deleted.
 */
export interface ShipperVehicleDeletedRevisionNotification {
  action: 'vehicle.deleted';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * the vehicle
   */
  vehicle_guid: string;
  revision_guid: string;
  user_guid?: string;
  carrier_phone?: string;
  carrier_name?: string;
  carrier_contact_name?: string;
  carrier_email?: string;
  carrier_guid?: string;
  /**
   * each changed field as {old_value, new_value}
   */
  data: {
    make?: Change;
    model?: Change;
    type?: Change;
    year?: Change;
    color?: Change;
    vin?: Change;
    price?: Change;
    tariff?: Change;
    lot_number?: Change;
  };
}

/**
 * Sent when order is canceled by the shipper.
 */
export interface ShipperOrderCancelNotification {
  action: 'order.cancel';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when a customer submits the order (customer portal or shipper-to-broker flow).
 */
export interface ShipperOrderSubmittedByCustomerNotification {
  action: 'order.submitted_by_customer';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * the customer that submitted the order
   */
  customer_counterparty_guid: string;
}

/**
 * Sent when order is picked up.
 */
export interface ShipperOrderPickedUpNotification {
  action: 'order.picked_up';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when order with an active offer was marked delivered by hand, then the carrier picks it up.
 */
export interface ShipperOrderPickedUpIgnoredNotification {
  action: 'order.picked_up.ignored';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when order is delivered.
 */
export interface ShipperOrderDeliveredNotification {
  action: 'order.delivered';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when order with an active offer was marked delivered by hand, then the carrier delivers it.
 */
export interface ShipperOrderDeliveredIgnoredNotification {
  action: 'order.delivered.ignored';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when pickup bill of lading becomes available (pickup inspection sync finished).
 */
export interface ShipperOrderPickedUpBolNotification {
  action: 'order.picked_up_bol';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * the bill of lading as PDF
   */
  pdf_bol_url: string;
  /**
   * the bill of lading as a page
   */
  online_bol_url: string;
}

/**
 * Sent when delivery bill of lading becomes available (delivery inspection sync finished).
 */
export interface ShipperOrderDeliveredBolNotification {
  action: 'order.delivered_bol';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * the bill of lading as PDF
   */
  pdf_bol_url: string;
  /**
   * the bill of lading as a page
   */
  online_bol_url: string;
  /**
   * the delivery receipt as PDF
   */
  pdf_delivery_receipt_url: string;
}

/**
 * Sent when shipper marks the order paid to the carrier.
 */
export interface ShipperOrderPaidNotification {
  action: 'order.paid';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when shipper unmarks the order as paid to the carrier.
 */
export interface ShipperOrderUnmarkAsPaidNotification {
  action: 'order.unmark_as_paid';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when order is marked paid by the customer.
 */
export interface ShipperOrderCustomerPaidNotification {
  action: 'order.customer_paid';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when order is invoiced by the carrier.
 */
export interface ShipperOrderInvoicedNotification {
  action: 'order.invoiced';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when order is invoiced to the customer.
 */
export interface ShipperOrderCustomerInvoicedNotification {
  action: 'order.customer_invoiced';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when order is archived.
 */
export interface ShipperOrderArchivedNotification {
  action: 'order.archived';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when order is unarchived.
 */
export interface ShipperOrderUnarchivedNotification {
  action: 'order.unarchived';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when shipper marks the order on hold.
 */
export interface ShipperOrderMarkedAsOnHoldNotification {
  action: 'order.marked_as_on_hold';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when shipper unmarks the order as on hold.
 */
export interface ShipperOrderUnmarkedAsOnHoldNotification {
  action: 'order.unmarked_as_on_hold';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when shipper marks the order delivery verified (manual flow of the payment program).
 */
export interface ShipperOrderMarkedAsDeliveryVerifiedNotification {
  action: 'order.marked_as_delivery_verified';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when shipper unmarks delivery verified.
 */
export interface ShipperOrderUnmarkedAsDeliveryVerifiedNotification {
  action: 'order.unmarked_as_delivery_verified';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when order is posted to the load board.
 */
export interface ShipperOrderPostedToSlbNotification {
  action: 'order.posted_to_slb';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when order is removed from the load board.
 */
export interface ShipperOrderRemovedFromSlbNotification {
  action: 'order.removed_from_slb';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when order is booked by a preferred carrier through the load board.
 */
export interface ShipperOrderBookedNotification {
  action: 'order.booked';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when order is manually marked new.
 */
export interface ShipperOrderManuallyMarkedAsNewNotification {
  action: 'order.manually_marked_as_new';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when order is manually marked pending.
 */
export interface ShipperOrderManuallyMarkedAsPendingNotification {
  action: 'order.manually_marked_as_pending';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when shipper manually marks the order accepted.
 */
export interface ShipperOrderManuallyMarkedAsAcceptedNotification {
  action: 'order.manually_marked_as_accepted';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when shipper manually marks the order invoiced by the carrier.
 */
export interface ShipperOrderManuallyMarkedAsInvoicedNotification {
  action: 'order.manually_marked_as_invoiced';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when shipper manually unmarks the order as invoiced by the carrier.
 */
export interface ShipperOrderManuallyUnmarkedAsInvoicedNotification {
  action: 'order.manually_unmarked_as_invoiced';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when order is manually marked picked up.
 */
export interface ShipperOrderManuallyMarkedAsPickedUpNotification {
  action: 'order.manually_marked_as_picked_up';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when order is manually marked delivered.
 */
export interface ShipperOrderManuallyMarkedAsDeliveredNotification {
  action: 'order.manually_marked_as_delivered';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when a manual status change is rolled back.
 */
export interface ShipperOrderRolledBackManualStatusChangeNotification {
  action: 'order.rolled_back_manual_status_change';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when order is removed.
 */
export interface ShipperOrderRemovedNotification {
  action: 'order.removed';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when order is restored.
 */
export interface ShipperOrderRestoredNotification {
  action: 'order.restored';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when load offer is sent.
 */
export interface ShipperOfferSentNotification {
  action: 'offer.sent';
  action_date: string;
  error_message: string | null;
  /**
   * the load offer
   */
  offer_guid: string;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * the carrier the offer was sent to
   */
  carrier_guid: string;
  /**
   * the order status
   */
  status: string;
  /**
   * @deprecated
   * primary key of the offer; deprecated
   */
  id?: number | bigint;
  /**
   * @deprecated
   * primary key of the order; deprecated
   */
  order_id?: number | bigint;
}

/**
 * Sent when sending a load offer failed.
 */
export interface ShipperOfferSentFailedNotification {
  action: 'offer.sent.failed';
  action_date: string;
  error_message: string | null;
  /**
   * the load offer
   */
  offer_guid: string;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * the carrier the offer was sent to
   */
  carrier_guid: string;
  /**
   * the order status
   */
  status: string;
  /**
   * @deprecated
   * primary key of the offer; deprecated
   */
  id?: number | bigint;
  /**
   * @deprecated
   * primary key of the order; deprecated
   */
  order_id?: number | bigint;
}

/**
 * Sent when carrier accepts the offer.
 */
export interface ShipperOfferAcceptedNotification {
  action: 'offer.accepted';
  action_date: string;
  error_message: string | null;
  /**
   * the load offer
   */
  offer_guid: string;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * the carrier the offer was sent to
   */
  carrier_guid: string;
  /**
   * the order status
   */
  status: string;
  /**
   * @deprecated
   * primary key of the offer; deprecated
   */
  id?: number | bigint;
  /**
   * @deprecated
   * primary key of the order; deprecated
   */
  order_id?: number | bigint;
}

/**
 * Sent when carrier accepts after the shipper manually marked the order picked up or delivered.
 */
export interface ShipperOfferAcceptedIgnoredNotification {
  action: 'offer.accepted.ignored';
  action_date: string;
  error_message: string | null;
  /**
   * the load offer
   */
  offer_guid: string;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * the carrier the offer was sent to
   */
  carrier_guid: string;
  /**
   * the order status
   */
  status: string;
  /**
   * @deprecated
   * primary key of the offer; deprecated
   */
  id?: number | bigint;
  /**
   * @deprecated
   * primary key of the order; deprecated
   */
  order_id?: number | bigint;
}

/**
 * Sent when carrier reverts the order status from picked_up to new.
 */
export interface ShipperOfferUpdatedToAcceptedNotification {
  action: 'offer.updated_to_accepted';
  action_date: string;
  error_message: string | null;
  /**
   * the load offer
   */
  offer_guid: string;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * the carrier the offer was sent to
   */
  carrier_guid: string;
  /**
   * the order status
   */
  status: string;
  /**
   * @deprecated
   * primary key of the offer; deprecated
   */
  id?: number | bigint;
  /**
   * @deprecated
   * primary key of the order; deprecated
   */
  order_id?: number | bigint;
}

/**
 * Sent when carrier reverts from delivered to new, or from delivered to picked_up to new.
 */
export interface ShipperOfferUpdatedToAcceptedIgnoredNotification {
  action: 'offer.updated_to_accepted.ignored';
  action_date: string;
  error_message: string | null;
  /**
   * the load offer
   */
  offer_guid: string;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * the carrier the offer was sent to
   */
  carrier_guid: string;
  /**
   * the order status
   */
  status: string;
  /**
   * @deprecated
   * primary key of the offer; deprecated
   */
  id?: number | bigint;
  /**
   * @deprecated
   * primary key of the order; deprecated
   */
  order_id?: number | bigint;
}

/**
 * Sent when offer is declined.
 */
export interface ShipperOfferDeclinedNotification {
  action: 'offer.declined';
  action_date: string;
  error_message: string | null;
  /**
   * the load offer
   */
  offer_guid: string;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * the carrier the offer was sent to
   */
  carrier_guid: string;
  /**
   * the order status
   */
  status: string;
  /**
   * @deprecated
   * primary key of the offer; deprecated
   */
  id?: number | bigint;
  /**
   * @deprecated
   * primary key of the order; deprecated
   */
  order_id?: number | bigint;
}

/**
 * Sent when carrier declines after the shipper manually marked the order delivered.
 */
export interface ShipperOfferDeclinedIgnoredNotification {
  action: 'offer.declined.ignored';
  action_date: string;
  error_message: string | null;
  /**
   * the load offer
   */
  offer_guid: string;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * the carrier the offer was sent to
   */
  carrier_guid: string;
  /**
   * the order status
   */
  status: string;
  /**
   * @deprecated
   * primary key of the offer; deprecated
   */
  id?: number | bigint;
  /**
   * @deprecated
   * primary key of the order; deprecated
   */
  order_id?: number | bigint;
}

/**
 * Sent when shipper cancels the offer.
 */
export interface ShipperOfferCanceledNotification {
  action: 'offer.canceled';
  action_date: string;
  error_message: string | null;
  /**
   * the load offer
   */
  offer_guid: string;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * the carrier the offer was sent to
   */
  carrier_guid: string;
  /**
   * the order status
   */
  status: string;
  /**
   * @deprecated
   * primary key of the offer; deprecated
   */
  id?: number | bigint;
  /**
   * @deprecated
   * primary key of the order; deprecated
   */
  order_id?: number | bigint;
}

/**
 * Sent when carrier cancels the offer.
 */
export interface ShipperOfferCanceledByCarrierNotification {
  action: 'offer.canceled_by_carrier';
  action_date: string;
  error_message: string | null;
  /**
   * the load offer
   */
  offer_guid: string;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * the carrier the offer was sent to
   */
  carrier_guid: string;
  /**
   * the order status
   */
  status: string;
  /**
   * @deprecated
   * primary key of the offer; deprecated
   */
  id?: number | bigint;
  /**
   * @deprecated
   * primary key of the order; deprecated
   */
  order_id?: number | bigint;
}

/**
 * Sent when carrier cancels after the order was delivered.
 */
export interface ShipperOfferCanceledByCarrierIgnoredNotification {
  action: 'offer.canceled_by_carrier.ignored';
  action_date: string;
  error_message: string | null;
  /**
   * the load offer
   */
  offer_guid: string;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * the carrier the offer was sent to
   */
  carrier_guid: string;
  /**
   * the order status
   */
  status: string;
  /**
   * @deprecated
   * primary key of the offer; deprecated
   */
  id?: number | bigint;
  /**
   * @deprecated
   * primary key of the order; deprecated
   */
  order_id?: number | bigint;
}

/**
 * Sent when carrier sends a load request to the shipper.
 */
export interface ShipperLoadRequestCreatedNotification {
  action: 'load_request.created';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * the load request
   */
  data: {
    /**
     * the load request
     */
    guid: string;
    /**
     * price suggested by the carrier
     */
    requested_price?: Numeric | string;
    /**
     * pickup date suggested by the carrier, as received
     */
    pickup_date?: string;
    /**
     * delivery date suggested by the carrier, as received
     */
    delivery_date?: string;
    /**
     * carrier note, at most 160 characters
     */
    carrier_comment?: string;
    /**
     * the carrier that sent the request
     */
    carrier_guid: string;
    /**
     * carrier e-mail
     */
    carrier_email?: string;
    /**
     * carrier phone
     */
    carrier_phone?: string;
    /**
     * carrier business name
     */
    carrier_name?: string;
    /**
     * carrier contact person
     */
    carrier_contact_name?: string;
    /**
     * carrier address
     */
    carrier_address?: string;
    /**
     * carrier city
     */
    carrier_city?: string;
    /**
     * carrier state
     */
    carrier_state?: string;
    /**
     * carrier ZIP
     */
    carrier_zip?: string;
    /**
     * carrier USDOT number
     */
    carrier_usdot?: string;
  };
}

/**
 * Sent when carrier updates own request (price, dates and so on).
 */
export interface ShipperLoadRequestUpdatedNotification {
  action: 'load_request.updated';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * the load request
   */
  data: {
    /**
     * the load request
     */
    guid: string;
    /**
     * price suggested by the carrier
     */
    requested_price?: Numeric | string;
    /**
     * pickup date suggested by the carrier, as received
     */
    pickup_date?: string;
    /**
     * delivery date suggested by the carrier, as received
     */
    delivery_date?: string;
    /**
     * carrier note, at most 160 characters
     */
    carrier_comment?: string;
    /**
     * the carrier that sent the request
     */
    carrier_guid: string;
    /**
     * carrier e-mail
     */
    carrier_email?: string;
    /**
     * carrier phone
     */
    carrier_phone?: string;
    /**
     * carrier business name
     */
    carrier_name?: string;
    /**
     * carrier contact person
     */
    carrier_contact_name?: string;
    /**
     * carrier address
     */
    carrier_address?: string;
    /**
     * carrier city
     */
    carrier_city?: string;
    /**
     * carrier state
     */
    carrier_state?: string;
    /**
     * carrier ZIP
     */
    carrier_zip?: string;
    /**
     * carrier USDOT number
     */
    carrier_usdot?: string;
  };
}

/**
 * Sent when carrier cancels own request.
 */
export interface ShipperLoadRequestCanceledByCarrierNotification {
  action: 'load_request.canceled_by_carrier';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * the load request
   */
  data: {
    /**
     * the load request
     */
    guid: string;
    /**
     * price suggested by the carrier
     */
    requested_price?: Numeric | string;
    /**
     * pickup date suggested by the carrier, as received
     */
    pickup_date?: string;
    /**
     * delivery date suggested by the carrier, as received
     */
    delivery_date?: string;
    /**
     * carrier note, at most 160 characters
     */
    carrier_comment?: string;
    /**
     * the carrier that sent the request
     */
    carrier_guid: string;
    /**
     * carrier e-mail
     */
    carrier_email?: string;
    /**
     * carrier phone
     */
    carrier_phone?: string;
    /**
     * carrier business name
     */
    carrier_name?: string;
    /**
     * carrier contact person
     */
    carrier_contact_name?: string;
    /**
     * carrier address
     */
    carrier_address?: string;
    /**
     * carrier city
     */
    carrier_city?: string;
    /**
     * carrier state
     */
    carrier_state?: string;
    /**
     * carrier ZIP
     */
    carrier_zip?: string;
    /**
     * carrier USDOT number
     */
    carrier_usdot?: string;
  };
}

/**
 * Sent when shipper declines the request.
 */
export interface ShipperLoadRequestDeclinedByShipperNotification {
  action: 'load_request.declined_by_shipper';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * the load request
   */
  data: {
    /**
     * the load request
     */
    guid: string;
    /**
     * price suggested by the carrier
     */
    requested_price?: Numeric | string;
    /**
     * pickup date suggested by the carrier, as received
     */
    pickup_date?: string;
    /**
     * delivery date suggested by the carrier, as received
     */
    delivery_date?: string;
    /**
     * carrier note, at most 160 characters
     */
    carrier_comment?: string;
    /**
     * the carrier that sent the request
     */
    carrier_guid: string;
    /**
     * carrier e-mail
     */
    carrier_email?: string;
    /**
     * carrier phone
     */
    carrier_phone?: string;
    /**
     * carrier business name
     */
    carrier_name?: string;
    /**
     * carrier contact person
     */
    carrier_contact_name?: string;
    /**
     * carrier address
     */
    carrier_address?: string;
    /**
     * carrier city
     */
    carrier_city?: string;
    /**
     * carrier state
     */
    carrier_state?: string;
    /**
     * carrier ZIP
     */
    carrier_zip?: string;
    /**
     * carrier USDOT number
     */
    carrier_usdot?: string;
  };
}

/**
 * Sent when driver updates the pickup ETA for a vehicle.
 */
export interface ShipperVehiclePickupEtaUpdatedByDriverNotification {
  action: 'vehicle.pickup_eta_updated_by_driver';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * vehicles whose ETA was updated
   *
   * @minItems 1
   */
  vehicle_guids: string[];
  /**
   * optional driver notes
   */
  notes?: string | null;
  /**
   * start of the ETA window, as received
   */
  date_from: string;
  /**
   * end of the ETA window, as received
   */
  date_until: string;
}

/**
 * Sent when driver updates the delivery ETA for a vehicle.
 */
export interface ShipperVehicleDeliveryEtaUpdatedByDriverNotification {
  action: 'vehicle.delivery_eta_updated_by_driver';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * vehicles whose ETA was updated
   *
   * @minItems 1
   */
  vehicle_guids: string[];
  /**
   * optional driver notes
   */
  notes?: string | null;
  /**
   * start of the ETA window, as received
   */
  date_from: string;
  /**
   * end of the ETA window, as received
   */
  date_until: string;
}

/**
 * Sent when a significant location change of the driver is received during transport.
 */
export interface ShipperVehicleDriverLocationUpdatedNotification {
  action: 'vehicle.driver_location_updated';
  action_date: string;
  error_message: string | null;
  /**
   * vehicles whose location was updated
   *
   * @minItems 1
   */
  vehicle_guids: string[];
  /**
   * current latitude
   */
  latitude: Numeric;
  /**
   * current longitude
   */
  longitude: Numeric;
  /**
   * current address, reverse geocoded
   */
  address?: string;
}

/**
 * Sent when the first GPS location is received for picked-up vehicles (GPS on).
 */
export interface ShipperVehicleGpsActivatedNotification {
  action: 'vehicle.gps_activated';
  action_date: string;
  error_message: string | null;
  /**
   * vehicles whose GPS status changed together in one batch
   *
   * @minItems 1
   */
  vehicle_guids: string[];
  /**
   * true for activated, false for deactivated
   */
  gps_active: true;
}

/**
 * Sent when no GPS location for more than one hour (GPS off).
 */
export interface ShipperVehicleGpsDeactivatedNotification {
  action: 'vehicle.gps_deactivated';
  action_date: string;
  error_message: string | null;
  /**
   * vehicles whose GPS status changed together in one batch
   *
   * @minItems 1
   */
  vehicle_guids: string[];
  /**
   * true for activated, false for deactivated
   */
  gps_active: false;
}

/**
 * Sent when broker submits an escalation.
 */
export interface ShipperEscalationSubmittedNotification {
  action: 'escalation.submitted';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when shipper resolves the escalation.
 */
export interface ShipperEscalationResolvedNotification {
  action: 'escalation.resolved';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * who resolved the escalation
   */
  resolver_guid: string;
  /**
   * the escalation
   */
  escalation_guid: string;
  /**
   * reason code to reason text
   */
  resolve_reasons?: {
    [k: string]: string;
  };
}

/**
 * Sent when shipper cancels the order.
 */
export interface ShipperOrderCancelledByCustomerNotification {
  action: 'order.cancelled_by_customer';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
}

/**
 * Sent when the insurer actually issues a policy for a vehicle on the order (not when it is requested).
 */
export interface ShipperInsuranceIssuedNotification {
  action: 'insurance.issued';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * the insured vehicle
   */
  vehicle_guid: string;
  /**
   * issued premium in USD; may differ from an earlier quote
   */
  calculated_premium: Numeric;
  /**
   * link to the insurance portal for the order
   */
  personal_link: string;
}

/**
 * Sent when an issued policy is canceled, including as a side effect of an order change (not always a deliberate cancellation).
 */
export interface ShipperInsuranceCanceledNotification {
  action: 'insurance.canceled';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * the insured vehicle
   */
  vehicle_guid: string;
  /**
   * why the policy was canceled
   */
  cancellation_reason: 'ORDER_CANCELED' | 'VEHICLE_REMOVED' | 'VEHICLE_MODIFIED' | 'CANCELED_VIA_INSURER';
}

/**
 * Sent when the payment program is activated, deactivated or suspended.
 */
export interface ShipperServicepaySettingsUpdatedNotification {
  action: 'servicepay_settings.updated';
  action_date: string;
  error_message: string | null;
  /**
   * the flow of the payment program
   */
  flow: string;
  /**
   * whether the payment program is active
   */
  enabled: boolean;
  /**
   * whether the payment program is suspended
   */
  suspended: boolean;
}

/**
 * Sent when the payment status of an order changes.
 */
export interface ShipperServicepayUpdatedNotification {
  action: 'servicepay.updated';
  action_date: string;
  error_message: string | null;
  /**
   * the related order
   */
  order_guid: string;
  /**
   * status of the payment
   */
  payment_status: string;
  /**
   * status of its processing
   */
  processing_status: string;
  /**
   * the amount paid
   */
  amount: Numeric;
  /**
   * when the shipper was charged
   */
  charged_at?: string;
  /**
   * date of the charge, yyyy-mm-dd
   */
  charge_date?: string;
  /**
   * date on which the payment is expected, yyyy-mm-dd
   */
  expected_date?: string;
  /**
   * when the carrier was paid
   */
  paid_at?: string;
  /**
   * when the payment last changed
   */
  changed_at?: string;
  /**
   * why the payment is held, if it is
   */
  hold?: ExactObject | null;
  /**
   * the refund, if there is one
   */
  refund?: ExactObject | null;
}

/**
 * Sent when a new order is created.
 */
export interface CarrierOrderCreatedNotification {
  action: 'order.created';
  /**
   * the message
   */
  guid: string;
  occurred_at: string;
  data: {
    /**
     * the order
     */
    id: number | bigint;
    /**
     * the order status
     */
    status: string;
  };
}

/**
 * Sent when an order is assigned to a driver.
 */
export interface CarrierOrderAssignedNotification {
  action: 'order.assigned';
  /**
   * the message
   */
  guid: string;
  occurred_at: string;
  data: ExactObject;
}

/**
 * Sent when order details are modified.
 */
export interface CarrierOrderUpdatedNotification {
  action: 'order.updated';
  /**
   * the message
   */
  guid: string;
  occurred_at: string;
  data: ExactObject;
}

/**
 * Sent when an order is picked up.
 */
export interface CarrierOrderPickedUpNotification {
  action: 'order.picked_up';
  /**
   * the message
   */
  guid: string;
  occurred_at: string;
  data: ExactObject;
}

/**
 * Sent when an order is delivered.
 */
export interface CarrierOrderDeliveredNotification {
  action: 'order.delivered';
  /**
   * the message
   */
  guid: string;
  occurred_at: string;
  data: ExactObject;
}

/**
 * Sent when an order is cancelled.
 */
export interface CarrierOrderCancelledNotification {
  action: 'order.cancelled';
  /**
   * the message
   */
  guid: string;
  occurred_at: string;
  data: ExactObject;
}

/**
 * Sent when a damage report is created.
 */
export interface CarrierDamageCreatedNotification {
  action: 'damage.created';
  /**
   * the message
   */
  guid: string;
  occurred_at: string;
  data: ExactObject;
}

/**
 * Sent when a damage report is deleted.
 */
export interface CarrierDamageDeletedNotification {
  action: 'damage.deleted';
  /**
   * the message
   */
  guid: string;
  occurred_at: string;
  data: ExactObject;
}

/** Any notification of the shipper interface. */
export type ShipperNotification =
  | ShipperOrderCreatedNotification
  | ShipperOrderCreatedRevisionNotification
  | ShipperOrderModifiedNotification
  | ShipperOrderModifiedRevisionNotification
  | ShipperVehicleCreatedNotification
  | ShipperVehicleCreatedRevisionNotification
  | ShipperVehicleModifiedNotification
  | ShipperVehicleModifiedRevisionNotification
  | ShipperVehicleDeletedNotification
  | ShipperVehicleDeletedRevisionNotification
  | ShipperOrderCancelNotification
  | ShipperOrderSubmittedByCustomerNotification
  | ShipperOrderPickedUpNotification
  | ShipperOrderPickedUpIgnoredNotification
  | ShipperOrderDeliveredNotification
  | ShipperOrderDeliveredIgnoredNotification
  | ShipperOrderPickedUpBolNotification
  | ShipperOrderDeliveredBolNotification
  | ShipperOrderPaidNotification
  | ShipperOrderUnmarkAsPaidNotification
  | ShipperOrderCustomerPaidNotification
  | ShipperOrderInvoicedNotification
  | ShipperOrderCustomerInvoicedNotification
  | ShipperOrderArchivedNotification
  | ShipperOrderUnarchivedNotification
  | ShipperOrderMarkedAsOnHoldNotification
  | ShipperOrderUnmarkedAsOnHoldNotification
  | ShipperOrderMarkedAsDeliveryVerifiedNotification
  | ShipperOrderUnmarkedAsDeliveryVerifiedNotification
  | ShipperOrderPostedToSlbNotification
  | ShipperOrderRemovedFromSlbNotification
  | ShipperOrderBookedNotification
  | ShipperOrderManuallyMarkedAsNewNotification
  | ShipperOrderManuallyMarkedAsPendingNotification
  | ShipperOrderManuallyMarkedAsAcceptedNotification
  | ShipperOrderManuallyMarkedAsInvoicedNotification
  | ShipperOrderManuallyUnmarkedAsInvoicedNotification
  | ShipperOrderManuallyMarkedAsPickedUpNotification
  | ShipperOrderManuallyMarkedAsDeliveredNotification
  | ShipperOrderRolledBackManualStatusChangeNotification
  | ShipperOrderRemovedNotification
  | ShipperOrderRestoredNotification
  | ShipperOfferSentNotification
  | ShipperOfferSentFailedNotification
  | ShipperOfferAcceptedNotification
  | ShipperOfferAcceptedIgnoredNotification
  | ShipperOfferUpdatedToAcceptedNotification
  | ShipperOfferUpdatedToAcceptedIgnoredNotification
  | ShipperOfferDeclinedNotification
  | ShipperOfferDeclinedIgnoredNotification
  | ShipperOfferCanceledNotification
  | ShipperOfferCanceledByCarrierNotification
  | ShipperOfferCanceledByCarrierIgnoredNotification
  | ShipperLoadRequestCreatedNotification
  | ShipperLoadRequestUpdatedNotification
  | ShipperLoadRequestCanceledByCarrierNotification
  | ShipperLoadRequestDeclinedByShipperNotification
  | ShipperVehiclePickupEtaUpdatedByDriverNotification
  | ShipperVehicleDeliveryEtaUpdatedByDriverNotification
  | ShipperVehicleDriverLocationUpdatedNotification
  | ShipperVehicleGpsActivatedNotification
  | ShipperVehicleGpsDeactivatedNotification
  | ShipperEscalationSubmittedNotification
  | ShipperEscalationResolvedNotification
  | ShipperOrderCancelledByCustomerNotification
  | ShipperInsuranceIssuedNotification
  | ShipperInsuranceCanceledNotification
  | ShipperServicepaySettingsUpdatedNotification
  | ShipperServicepayUpdatedNotification
;
/** Any notification of the carrier interface. */
export type CarrierNotification =
  | CarrierOrderCreatedNotification
  | CarrierOrderAssignedNotification
  | CarrierOrderUpdatedNotification
  | CarrierOrderPickedUpNotification
  | CarrierOrderDeliveredNotification
  | CarrierOrderCancelledNotification
  | CarrierDamageCreatedNotification
  | CarrierDamageDeletedNotification
;