// Subscribes, switches on what it has, lists it, and reads the delivery log, by the clients that were generated into folders beside.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"example.com/clients/carrier"
	"example.com/clients/shipper"
)

var (
	ctx         = context.Background()
	callbackURL = "https://hooks.test/a"
	isActive    = true
)

func main() {
	interfaceName, apiURL, token, action := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+token)
		return nil
	}
	if interfaceName == "shipper" {
		asShipper(must(shipper.NewClientWithResponses(apiURL, shipper.WithRequestEditorFn(authorize))), action)
	} else {
		asCarrier(must(carrier.NewClientWithResponses(apiURL, carrier.WithRequestEditorFn(authorize))), action)
	}
}

func asShipper(api *shipper.ClientWithResponses, action string) {
	request := shipper.ShipperSubscribeRequest{CallbackUrl: callbackURL}
	made := must(api.SubscribeShipperWithResponse(ctx, shipper.ShipperActionName(action), request)).JSON200.Data.Object
	fmt.Println("subscribed", made.Action, len(*made.VerificationToken))
	desired := shipper.PutSubscriptionsJSONRequestBody{CallbackUrl: callbackURL, Actions: []string{action}, IsActive: &isActive}
	for _, put := range must(api.PutSubscriptionsWithResponse(ctx, desired)).JSON200.Data.Objects {
		fmt.Println("put", put.Action, put.Result)
	}
	for _, each := range must(api.ListSubscriptionsWithResponse(ctx)).JSON200.Data.Objects {
		change := shipper.ChangeSubscriptionJSONRequestBody{IsActive: &isActive}
		changed := must(api.ChangeSubscriptionWithResponse(ctx, each.Guid, change)).JSON200.Data.Object
		fmt.Println("on", changed.Action, changed.IsActive)
	}
	statuses := []shipper.ListDeliveriesParamsStatus{"exhausted", "dropped"}
	page := must(api.ListDeliveriesWithResponse(ctx, &shipper.ListDeliveriesParams{Status: &statuses}))
	for _, each := range page.JSON200.Data.Objects {
		fmt.Println("delivery", each.Guid, each.Action, each.Status, *each.Attempts[0].Reason)
	}
	problem := must(api.GetDeliveryWithResponse(ctx, [16]byte{})).ApplicationproblemJSON404
	fmt.Println("problem", problem.Status, problem.Type)
}

func asCarrier(api *carrier.ClientWithResponses, action string) {
	request := carrier.CarrierSubscribeRequest{CallbackUrl: callbackURL}
	made := must(api.SubscribeCarrierWithResponse(ctx, carrier.CarrierActionName(action), request)).JSON201
	fmt.Println("subscribed", made.Action, len(*made.VerificationToken))
	desired := carrier.PutSubscriptionsJSONRequestBody{CallbackUrl: callbackURL, Actions: []string{action}, IsActive: &isActive}
	for _, put := range must(api.PutSubscriptionsWithResponse(ctx, desired)).JSON200.Objects {
		fmt.Println("put", put.Action, put.Result)
	}
	for _, each := range must(api.ListSubscriptionsWithResponse(ctx)).JSON200.Objects {
		change := carrier.ChangeSubscriptionJSONRequestBody{IsActive: &isActive}
		changed := must(api.ChangeSubscriptionWithResponse(ctx, each.Guid, change)).JSON200
		fmt.Println("on", changed.Action, changed.IsActive)
	}
	statuses := []carrier.ListDeliveriesParamsStatus{"exhausted", "dropped"}
	page := must(api.ListDeliveriesWithResponse(ctx, &carrier.ListDeliveriesParams{Status: &statuses}))
	for _, each := range page.JSON200.Objects {
		fmt.Println("delivery", each.Guid, each.Action, each.Status, *each.Attempts[0].Reason)
	}
	problem := must(api.GetDeliveryWithResponse(ctx, [16]byte{})).ApplicationproblemJSON404
	fmt.Println("problem", problem.Status, problem.Type)
}

func must[T any](answer T, err error) T {
	if err != nil {
		panic(err)
	}
	return answer
}
