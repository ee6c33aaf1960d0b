package main

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/bucket"
	"github.com/holdfast/holdfast/internal/elsewhere"
)

func newImportS3Command(a *app) *cobra.Command {
	var flags broughtFlags
	from := elsewhere.S3{}
	cmd := &cobra.Command{
		Use:   "s3 BUCKET [STATE…]",
		Short: "Bring the states of an S3 bucket, with the versions that it keeps",
		Long: `Bring the objects of an S3 bucket whose keys end in .tfstate, with the versions that it keeps. A state
is called by its key, without .tfstate and without a last terraform; env:/prod/network.tfstate, which is
how clients keep a workspace, is prod/network. One that is deleted there is passed over.

The credentials come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN in the
environment, the region from AWS_REGION: "aws configure export-credentials --format env" prints such lines.
They need s3:ListBucketVersions, s3:GetObject and s3:GetObjectVersion.`,
		Example: `  holdfast import s3 acme-states --dry-run
  holdfast import s3 acme-states --prefix live/ --into prod
  holdfast import s3 states --endpoint https://minio.example.com`,
		Args: cobra.MinimumNArgs(1),
	}
	cmd.Flags().StringVar(&from.Prefix, "prefix", "", "what the keys begin with")
	cmd.Flags().StringVar(&from.Endpoint, "endpoint", "", "address of a service that is not AWS's")
	cmd.Flags().StringVar(&from.Region, "region", "", "region of the bucket (default: AWS_REGION, else us-east-1)")
	flags.add(cmd)
	return a.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		b, err := a.bucket(args[0], from.Endpoint, from.Region)
		if err != nil {
			return err
		}
		from.Bucket, from.Region, from.Endpoint = b.Name, b.Region, b.Endpoint
		from.Key, from.Secret, from.Session = b.Key, b.Secret, b.Session
		return a.bring(ctx, c, &from, args[1:], flags)
	})
}

// bucket is one with the credentials that the environment has.
func (a *app) bucket(name, endpoint, region string) (bucket.Bucket, error) {
	b := bucket.Bucket{Name: name,
		Region: cmp.Or(region, a.getenv("AWS_REGION"), a.getenv("AWS_DEFAULT_REGION"), "us-east-1"),
		Key:    a.getenv("AWS_ACCESS_KEY_ID"), Secret: a.getenv("AWS_SECRET_ACCESS_KEY"),
		Session: a.getenv("AWS_SESSION_TOKEN")}
	b.Endpoint = cmp.Or(endpoint, "https://s3."+b.Region+".amazonaws.com")
	if b.Key == "" || b.Secret == "" {
		return b, usagef("there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	if _, err := readAddress(b.Endpoint); err != nil {
		return b, usagef("--endpoint: %w", err)
	}
	return b, nil
}
