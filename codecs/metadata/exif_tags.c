/* SPDX-License-Identifier: MIT
 * The table has tags that describe the photograph. It omits tags that describe the stored pixels
 * (compression, subsampling, the place of a subject in pixels), can hold pixels, or are readable only by
 * the maker. */
#include "codecs/metadata/exif_tags.h"

#include "codecs/metadata/losses.h"

static const struct exif_tag tags[] = {
    {EXIF_MAIN, EXIF_TEXT, 0x010D, 256},           /* DocumentName */
    {EXIF_MAIN, EXIF_TEXT, 0x010E, 2048},          /* ImageDescription */
    {EXIF_MAIN, EXIF_TEXT, 0x010F, 256},           /* Make */
    {EXIF_MAIN, EXIF_TEXT, 0x0110, 256},           /* Model */
    {EXIF_MAIN, EXIF_ORIENTATION, 0x0112, 1},      /* Orientation */
    {EXIF_MAIN, EXIF_X_RESOLUTION, 0x011A, 1},     /* XResolution */
    {EXIF_MAIN, EXIF_Y_RESOLUTION, 0x011B, 1},     /* YResolution */
    {EXIF_MAIN, EXIF_RESOLUTION_UNIT, 0x0128, 1},  /* ResolutionUnit */
    {EXIF_MAIN, EXIF_TEXT, 0x0131, 256},           /* Software */
    {EXIF_MAIN, EXIF_TEXT, 0x0132, 20},            /* DateTime */
    {EXIF_MAIN, EXIF_TEXT, 0x013B, 2048},          /* Artist */
    {EXIF_MAIN, EXIF_TEXT, 0x013C, 256},           /* HostComputer */
    {EXIF_MAIN, EXIF_RATIO, 0x013E, 2},            /* WhitePoint */
    {EXIF_MAIN, EXIF_RATIO, 0x013F, 6},            /* PrimaryChromaticities */
    {EXIF_MAIN, EXIF_NUMBER, 0x4746, 1},           /* Rating */
    {EXIF_MAIN, EXIF_NUMBER, 0x4749, 1},           /* RatingPercent */
    {EXIF_MAIN, EXIF_TEXT, 0x8298, 2048},          /* Copyright */
    {EXIF_MAIN, EXIF_POINTER_PHOTO, 0x8769, 1},    /* the photo directory */
    {EXIF_MAIN, EXIF_POINTER_GPS, 0x8825, 1},      /* the GPS directory */
    {EXIF_MAIN, EXIF_TEXT16, 0x9C9B, 2048},        /* XPTitle */
    {EXIF_MAIN, EXIF_TEXT16, 0x9C9C, 2048},        /* XPComment */
    {EXIF_MAIN, EXIF_TEXT16, 0x9C9D, 2048},        /* XPAuthor */
    {EXIF_MAIN, EXIF_TEXT16, 0x9C9E, 2048},        /* XPKeywords */
    {EXIF_MAIN, EXIF_TEXT16, 0x9C9F, 2048},        /* XPSubject */
    {EXIF_PHOTO, EXIF_RATIO, 0x829A, 1},           /* ExposureTime */
    {EXIF_PHOTO, EXIF_RATIO, 0x829D, 1},           /* FNumber */
    {EXIF_PHOTO, EXIF_NUMBER, 0x8822, 1},          /* ExposureProgram */
    {EXIF_PHOTO, EXIF_TEXT, 0x8824, 64},           /* SpectralSensitivity */
    {EXIF_PHOTO, EXIF_NUMBER, 0x8827, 3},          /* PhotographicSensitivity */
    {EXIF_PHOTO, EXIF_NUMBER, 0x8830, 1},          /* SensitivityType */
    {EXIF_PHOTO, EXIF_NUMBER, 0x8831, 1},          /* StandardOutputSensitivity */
    {EXIF_PHOTO, EXIF_NUMBER, 0x8832, 1},          /* RecommendedExposureIndex */
    {EXIF_PHOTO, EXIF_NUMBER, 0x8833, 1},          /* ISOSpeed */
    {EXIF_PHOTO, EXIF_NUMBER, 0x8834, 1},          /* ISOSpeedLatitudeyyy */
    {EXIF_PHOTO, EXIF_NUMBER, 0x8835, 1},          /* ISOSpeedLatitudezzz */
    {EXIF_PHOTO, EXIF_BYTES, 0x9000, 4},           /* ExifVersion */
    {EXIF_PHOTO, EXIF_TEXT, 0x9003, 20},           /* DateTimeOriginal */
    {EXIF_PHOTO, EXIF_TEXT, 0x9004, 20},           /* DateTimeDigitized */
    {EXIF_PHOTO, EXIF_TEXT, 0x9010, 16},           /* OffsetTime */
    {EXIF_PHOTO, EXIF_TEXT, 0x9011, 16},           /* OffsetTimeOriginal */
    {EXIF_PHOTO, EXIF_TEXT, 0x9012, 16},           /* OffsetTimeDigitized */
    {EXIF_PHOTO, EXIF_RATIO, 0x9201, 1},           /* ShutterSpeedValue */
    {EXIF_PHOTO, EXIF_RATIO, 0x9202, 1},           /* ApertureValue */
    {EXIF_PHOTO, EXIF_RATIO, 0x9203, 1},           /* BrightnessValue */
    {EXIF_PHOTO, EXIF_RATIO, 0x9204, 1},           /* ExposureBiasValue */
    {EXIF_PHOTO, EXIF_RATIO, 0x9205, 1},           /* MaxApertureValue */
    {EXIF_PHOTO, EXIF_RATIO, 0x9206, 1},           /* SubjectDistance */
    {EXIF_PHOTO, EXIF_NUMBER, 0x9207, 1},          /* MeteringMode */
    {EXIF_PHOTO, EXIF_NUMBER, 0x9208, 1},          /* LightSource */
    {EXIF_PHOTO, EXIF_NUMBER, 0x9209, 1},          /* Flash */
    {EXIF_PHOTO, EXIF_RATIO, 0x920A, 1},           /* FocalLength */
    {EXIF_PHOTO, EXIF_COMMENT, 0x9286, 8192},      /* UserComment */
    {EXIF_PHOTO, EXIF_TEXT, 0x9290, 16},           /* SubSecTime */
    {EXIF_PHOTO, EXIF_TEXT, 0x9291, 16},           /* SubSecTimeOriginal */
    {EXIF_PHOTO, EXIF_TEXT, 0x9292, 16},           /* SubSecTimeDigitized */
    {EXIF_PHOTO, EXIF_RATIO, 0x9400, 1},           /* AmbientTemperature */
    {EXIF_PHOTO, EXIF_RATIO, 0x9401, 1},           /* Humidity */
    {EXIF_PHOTO, EXIF_RATIO, 0x9402, 1},           /* Pressure */
    {EXIF_PHOTO, EXIF_RATIO, 0x9403, 1},           /* WaterDepth */
    {EXIF_PHOTO, EXIF_RATIO, 0x9404, 1},           /* Acceleration */
    {EXIF_PHOTO, EXIF_RATIO, 0x9405, 1},           /* CameraElevationAngle */
    {EXIF_PHOTO, EXIF_BYTES, 0xA000, 4},           /* FlashpixVersion */
    {EXIF_PHOTO, EXIF_NUMBER, 0xA001, 1},          /* ColorSpace */
    {EXIF_PHOTO, EXIF_WIDTH, 0xA002, 1},           /* PixelXDimension */
    {EXIF_PHOTO, EXIF_HEIGHT, 0xA003, 1},          /* PixelYDimension */
    {EXIF_PHOTO, EXIF_POINTER_INTEROP, 0xA005, 1}, /* the interoperability directory */
    {EXIF_PHOTO, EXIF_RATIO, 0xA20B, 1},           /* FlashEnergy */
    {EXIF_PHOTO, EXIF_RATIO, 0xA20E, 1},           /* FocalPlaneXResolution */
    {EXIF_PHOTO, EXIF_RATIO, 0xA20F, 1},           /* FocalPlaneYResolution */
    {EXIF_PHOTO, EXIF_NUMBER, 0xA210, 1},          /* FocalPlaneResolutionUnit */
    {EXIF_PHOTO, EXIF_RATIO, 0xA215, 1},           /* ExposureIndex */
    {EXIF_PHOTO, EXIF_NUMBER, 0xA217, 1},          /* SensingMethod */
    {EXIF_PHOTO, EXIF_BYTES, 0xA300, 1},           /* FileSource */
    {EXIF_PHOTO, EXIF_BYTES, 0xA301, 1},           /* SceneType */
    {EXIF_PHOTO, EXIF_NUMBER, 0xA401, 1},          /* CustomRendered */
    {EXIF_PHOTO, EXIF_NUMBER, 0xA402, 1},          /* ExposureMode */
    {EXIF_PHOTO, EXIF_NUMBER, 0xA403, 1},          /* WhiteBalance */
    {EXIF_PHOTO, EXIF_RATIO, 0xA404, 1},           /* DigitalZoomRatio */
    {EXIF_PHOTO, EXIF_NUMBER, 0xA405, 1},          /* FocalLengthIn35mmFilm */
    {EXIF_PHOTO, EXIF_NUMBER, 0xA406, 1},          /* SceneCaptureType */
    {EXIF_PHOTO, EXIF_NUMBER, 0xA407, 1},          /* GainControl */
    {EXIF_PHOTO, EXIF_NUMBER, 0xA408, 1},          /* Contrast */
    {EXIF_PHOTO, EXIF_NUMBER, 0xA409, 1},          /* Saturation */
    {EXIF_PHOTO, EXIF_NUMBER, 0xA40A, 1},          /* Sharpness */
    {EXIF_PHOTO, EXIF_NUMBER, 0xA40C, 1},          /* SubjectDistanceRange */
    {EXIF_PHOTO, EXIF_TEXT, 0xA420, 64},           /* ImageUniqueID */
    {EXIF_PHOTO, EXIF_TEXT, 0xA430, 256},          /* CameraOwnerName */
    {EXIF_PHOTO, EXIF_TEXT, 0xA431, 256},          /* BodySerialNumber */
    {EXIF_PHOTO, EXIF_RATIO, 0xA432, 4},           /* LensSpecification */
    {EXIF_PHOTO, EXIF_TEXT, 0xA433, 256},          /* LensMake */
    {EXIF_PHOTO, EXIF_TEXT, 0xA434, 256},          /* LensModel */
    {EXIF_PHOTO, EXIF_TEXT, 0xA435, 256},          /* LensSerialNumber */
    {EXIF_PHOTO, EXIF_TEXT, 0xA436, 2048},         /* ImageTitle */
    {EXIF_PHOTO, EXIF_TEXT, 0xA437, 256},          /* Photographer */
    {EXIF_PHOTO, EXIF_TEXT, 0xA438, 256},          /* ImageEditor */
    {EXIF_PHOTO, EXIF_TEXT, 0xA439, 256},          /* CameraFirmware */
    {EXIF_PHOTO, EXIF_TEXT, 0xA43A, 256},          /* RAWDevelopingSoftware */
    {EXIF_PHOTO, EXIF_TEXT, 0xA43B, 256},          /* ImageEditingSoftware */
    {EXIF_PHOTO, EXIF_TEXT, 0xA43C, 256},          /* MetadataEditingSoftware */
    {EXIF_PHOTO, EXIF_NUMBER, 0xA460, 1},          /* CompositeImage */
    {EXIF_PHOTO, EXIF_NUMBER, 0xA461, 2},          /* SourceImageNumberOfCompositeImage */
    {EXIF_PHOTO, EXIF_RATIO, 0xA500, 1},           /* Gamma */
    {EXIF_GPS, EXIF_BYTES, 0x0000, 4},             /* GPSVersionID */
    {EXIF_GPS, EXIF_TEXT, 0x0001, 4},              /* GPSLatitudeRef */
    {EXIF_GPS, EXIF_RATIO, 0x0002, 3},             /* GPSLatitude */
    {EXIF_GPS, EXIF_TEXT, 0x0003, 4},              /* GPSLongitudeRef */
    {EXIF_GPS, EXIF_RATIO, 0x0004, 3},             /* GPSLongitude */
    {EXIF_GPS, EXIF_NUMBER, 0x0005, 1},            /* GPSAltitudeRef */
    {EXIF_GPS, EXIF_RATIO, 0x0006, 1},             /* GPSAltitude */
    {EXIF_GPS, EXIF_RATIO, 0x0007, 3},             /* GPSTimeStamp */
    {EXIF_GPS, EXIF_TEXT, 0x0008, 256},            /* GPSSatellites */
    {EXIF_GPS, EXIF_TEXT, 0x0009, 4},              /* GPSStatus */
    {EXIF_GPS, EXIF_TEXT, 0x000A, 4},              /* GPSMeasureMode */
    {EXIF_GPS, EXIF_RATIO, 0x000B, 1},             /* GPSDOP */
    {EXIF_GPS, EXIF_TEXT, 0x000C, 4},              /* GPSSpeedRef */
    {EXIF_GPS, EXIF_RATIO, 0x000D, 1},             /* GPSSpeed */
    {EXIF_GPS, EXIF_TEXT, 0x000E, 4},              /* GPSTrackRef */
    {EXIF_GPS, EXIF_RATIO, 0x000F, 1},             /* GPSTrack */
    {EXIF_GPS, EXIF_TEXT, 0x0010, 4},              /* GPSImgDirectionRef */
    {EXIF_GPS, EXIF_RATIO, 0x0011, 1},             /* GPSImgDirection */
    {EXIF_GPS, EXIF_TEXT, 0x0012, 256},            /* GPSMapDatum */
    {EXIF_GPS, EXIF_TEXT, 0x0013, 4},              /* GPSDestLatitudeRef */
    {EXIF_GPS, EXIF_RATIO, 0x0014, 3},             /* GPSDestLatitude */
    {EXIF_GPS, EXIF_TEXT, 0x0015, 4},              /* GPSDestLongitudeRef */
    {EXIF_GPS, EXIF_RATIO, 0x0016, 3},             /* GPSDestLongitude */
    {EXIF_GPS, EXIF_TEXT, 0x0017, 4},              /* GPSDestBearingRef */
    {EXIF_GPS, EXIF_RATIO, 0x0018, 1},             /* GPSDestBearing */
    {EXIF_GPS, EXIF_TEXT, 0x0019, 4},              /* GPSDestDistanceRef */
    {EXIF_GPS, EXIF_RATIO, 0x001A, 1},             /* GPSDestDistance */
    {EXIF_GPS, EXIF_COMMENT, 0x001B, 256},         /* GPSProcessingMethod */
    {EXIF_GPS, EXIF_COMMENT, 0x001C, 256},         /* GPSAreaInformation */
    {EXIF_GPS, EXIF_TEXT, 0x001D, 16},             /* GPSDateStamp */
    {EXIF_GPS, EXIF_NUMBER, 0x001E, 1},            /* GPSDifferential */
    {EXIF_GPS, EXIF_RATIO, 0x001F, 1},             /* GPSHPositioningError */
    {EXIF_INTEROP, EXIF_TEXT, 0x0001, 4},          /* InteroperabilityIndex */
    {EXIF_INTEROP, EXIF_BYTES, 0x0002, 4},         /* InteroperabilityVersion */
};

enum { COUNT = sizeof(tags) / sizeof(*tags) };
_Static_assert((int)COUNT <= (int)EXIF_TAGS_MAX, "EXIF_TAGS_MAX is too small");

const struct exif_tag *exif_tags(size_t *count) {
    *count = COUNT;
    return tags;
}

const struct exif_tag *exif_tag_find(enum exif_directory directory, uint16_t tag) {
    uint32_t wanted = (uint32_t)directory << 16 | tag;
    size_t from = 0, to = COUNT;
    while (from < to) {
        size_t middle = (from + to) / 2;
        uint32_t found = (uint32_t)tags[middle].directory << 16 | tags[middle].tag;
        if (found == wanted) {
            return &tags[middle];
        }
        from = found < wanted ? middle + 1 : from;
        to = found < wanted ? to : middle;
    }
    return NULL;
}

static const struct {
    uint16_t tag;
    unsigned loss;
} losses[] = {
    /* Tags about pixel storage, or without information. */
    {0x00FE, 0},
    {0x0100, 0},
    {0x0101, 0},
    {0x0102, 0},
    {0x0103, 0},
    {0x0106, 0},
    {0x0115, 0},
    {0x0116, 0},
    {0x011C, 0},
    {0x0211, 0},
    {0x0212, 0},
    {0x0213, 0},
    {0x0214, 0},
    {0x9101, 0},
    {0x9102, 0},
    {0x9214, 0},
    {0xA214, 0},
    {0xEA1C, 0},
    {0x002E, LOSS_THUMBNAIL},
    {0x0111, LOSS_THUMBNAIL},
    {0x0117, LOSS_THUMBNAIL},
    {0x0144, LOSS_THUMBNAIL},
    {0x0145, LOSS_THUMBNAIL},
    {0x014A, LOSS_THUMBNAIL},
    {0x0201, LOSS_THUMBNAIL},
    {0x0202, LOSS_THUMBNAIL},
    {0x02BC, LOSS_XMP},
    {0x83BB, LOSS_IPTC},
    {0x8649, LOSS_IPTC},
    {0x8773, LOSS_COLOUR},
    {0x927C, LOSS_MAKER_NOTE},
    {0xC634, LOSS_MAKER_NOTE},
};

unsigned exif_tag_loss(uint16_t tag) {
    for (size_t i = 0; i < sizeof(losses) / sizeof(*losses); i++) {
        if (losses[i].tag == tag) {
            return losses[i].loss;
        }
    }
    return LOSS_EXIF;
}
